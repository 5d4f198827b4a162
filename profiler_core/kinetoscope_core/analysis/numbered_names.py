"""Names that differ only in their counters: `ProfilerStep#7` and `ProfilerStep#8`, `step 0` to `step 99999`.

Such names are one series: one row of a table, one set of numbers, and, of a long one, all that a result keeps. This
module says what a series is, from names and calls alone; it knows nothing of traces and results.
The runner has an equivalent of its own, since it may not import this.
"""

import re
from collections.abc import Mapping
from typing import Final, Literal, TypeAlias

_NUMBER: Final = re.compile(r"[0-9]+")
_NUMBERED_PART: Final = re.compile(r"(?<![^.])[0-9]+(?![^. ])")
_GLUED: Final = re.compile(r"[^\W\d_][0-9]+")
_STEP_OF_TORCH: Final = "ProfilerStep#"

LEAST_NAMES: Final = 3
"""Fewer are told one by one, but for torch's own steps."""

LEAST_GLUED_NAMES: Final = 8
"""Where every number follows a letter (`fc1`, `stage0`): what has few of these are parts of a model, not steps."""

MOST_NAMES: Final = 64
"""Of a series: a result that has more of them keeps the series in their place."""

MOST_REPEATED_NAMES: Final = 1000
"""The same for names that were entered again and again: `layer 3` in each step."""

Series: TypeAlias = Literal["steps", "layers"]


def pattern_of(name: str) -> str:
    """The name with `N` for each number in it: `step[DECODE bs=N it=N]`. That of a name without one is the name."""
    return _NUMBER.sub("N", name)


def module_pattern_of(path: str) -> str:
    """The path of a module with `*` for each number that is a part of its own: `layers.*.mlp`."""
    return _NUMBERED_PART.sub("*", path)


def is_step_of_torch(name: str) -> bool:
    """Whether it is that of a step which `torch.profiler` marks (or our runner, where a script has no region)."""
    return name.startswith(_STEP_OF_TORCH)


def series_of(calls: Mapping[str, int], *, is_nested: bool) -> Series | None:
    """What names of one pattern and place are together; None where each is a thing of its own. `calls` is how often
    each was entered.

    `steps` are counters of the same thing: nearly each was entered once. `layers` are entered again and again. Neither
    are names of which one was entered inside another (`is_nested`): a step does not hold steps.
    """
    names = len(calls)
    if is_nested or names < 2:
        return None
    first = next(iter(calls))
    if pattern_of(first) == first:
        return None
    if is_step_of_torch(first) or names > MOST_REPEATED_NAMES:
        return "steps"
    is_glued = len(_GLUED.findall(first)) == len(_NUMBER.findall(first))
    if names < (LEAST_GLUED_NAMES if is_glued else LEAST_NAMES):
        return None
    return "steps" if sum(calls.values()) < 2 * names else "layers"


def is_kept_whole(series: Series, names: int) -> bool:
    """Whether a result has a row for each name of a series beside the series."""
    return names <= (MOST_NAMES if series == "steps" else MOST_REPEATED_NAMES)
