"""Names that differ only in their counters: `ProfilerStep#7` and `ProfilerStep#8`, `step 0` to `step 99999`.

Such names are one series: one row of a table, one set of numbers, and, of a long one, all that a result keeps. This
module says what a series is, from names and calls alone; it knows nothing of traces and results.
The runner has an equivalent of its own, since it may not import this.
"""

import re
from collections.abc import Mapping
from typing import Final

_NUMBER: Final = re.compile(r"[0-9]+")
_GLUED: Final = re.compile(r"[^\W\d_][0-9]+")
_STEP_OF_TORCH: Final = "ProfilerStep#"

LEAST_NAMES: Final = 3
"""Fewer are told one by one, but for torch's own steps."""

LEAST_GLUED_NAMES: Final = 8
"""Where every number follows a letter (`fc1`, `stage0`): what has few of these are parts of a model, not steps."""

MOST_NAMES: Final = 64
"""Of a series: a result that has more of them keeps the series in their place."""

MOST_REPEATED_NAMES: Final = 1000
"""The same for names that were entered again and again (`layer 3` in each step): these are no series below it."""


def pattern_of(name: str) -> str:
    """The name with `N` for each number in it: `step[DECODE bs=N it=N]`. That of a name without one is the name."""
    return _NUMBER.sub("N", name)


def is_series(calls: Mapping[str, int], *, is_nested: bool) -> bool:
    """Whether names of one pattern and place are counters of the same thing. `calls` is how often each was entered.

    They are if nearly each was entered once, and none inside another (`is_nested`): a step does not hold steps.
    """
    names = len(calls)
    if is_nested or names < 2:
        return False
    first = next(iter(calls))
    if pattern_of(first) == first:
        return False
    if first.startswith(_STEP_OF_TORCH) or names > MOST_REPEATED_NAMES:
        return True
    is_glued = len(_GLUED.findall(first)) == len(_NUMBER.findall(first))
    return names >= (LEAST_GLUED_NAMES if is_glued else LEAST_NAMES) and sum(calls.values()) < 2 * names


def is_kept_whole(calls: Mapping[str, int]) -> bool:
    """Whether a result has a row for each name of a series beside the series."""
    return len(calls) <= MOST_NAMES
