"""A place in the source, the names it is entered with, and what a trace keeps of a name. Plain counts, no decisions."""

import itertools
import re
import threading
from typing import Any, Dict, Iterator, List, Optional, Tuple

from .places import Level, absolute

_NUMBER = re.compile(r"[0-9]+")


class Place:
    """A place in the source where regions are entered, with what happened there so far.

    It stands behind the helpers that entered them: `levels` are the lines from the entry outwards, as far as one may
    be a helper's. Which it is, is known when the first region has ended (`settle`).
    """

    def __init__(self, index: int, levels: List[Level]) -> None:
        self.index = index
        self.levels = levels
        self.is_settled = len(levels) == 1
        self.entered = itertools.count()
        self.finished = 0
        self.names: Dict[str, "NamedRegion"] = {}
        self.series: Dict[str, "Series"] = {}
        self.stand_at(next((i for i, level in enumerate(levels) if not level.is_likely_a_helper), len(levels) - 1))

    def stand_at(self, index: int) -> None:
        """Takes one of the levels for the place; those before it are helpers."""
        level = self.levels[index]
        self.file = absolute(level.code.co_filename)
        self.line = level.line
        self.function: str = getattr(level.code, "co_qualname", level.code.co_name)
        self.through = [(absolute(helper.code.co_filename), helper.line) for helper in self.levels[:index]]

    @property
    def is_behind_a_helper(self) -> bool:
        return bool(self.through)

    def stands(self) -> List[Tuple[str, int]]:
        """Its own line and those of the helpers, as file and line; of what may be helpers as long as that is open."""
        if self.is_settled:
            return [(self.file, self.line), *self.through]
        return [(absolute(level.code.co_filename), level.line) for level in self.levels]


class Series:
    """The names at a place that differ only in their numbers: steps, layers, or a single name."""

    def __init__(self, place: Place, outer: int) -> None:
        self.place = place
        self.names = 0
        self.finished = 0
        self.open: Dict[int, int] = {}
        """How many calls are open now, by thread; not counted as long as there is but one name."""
        self.has_nested = False
        """Whether one was entered while another was open on the thread: then they are no steps."""
        self.first_outer = outer
        """The outermost call that held the first one."""
        self.is_in_first_outer = True
        self.only: Optional[NamedRegion] = None
        self.others: Optional[NamedRegion] = None
        """All names beyond `MOST_NAMES` of the place."""

    def note_entry(self, thread: int, outer: int) -> None:
        """A call that is entered inside the outermost one of this number."""
        opened = self.open.get(thread, 0)
        self.open[thread] = opened + 1
        if opened:
            self.has_nested = True
        self.is_in_first_outer = self.first_outer == outer

    def has_each_once(self) -> bool:
        """Whether every name has been entered once so far, as numbered steps are, and layers in their first pass."""
        return self.names > 1 and not self.has_nested and self.names >= self.finished


class NamedRegion:
    """A place together with one of the names it was entered with: what a reader calls a region.

    With `is_pattern` it stands for all names that differ from it in their numbers alone.
    """

    def __init__(self, index: int, series: Series, name: str, *, is_pattern: bool = False) -> None:
        self.index = index
        self.series = series
        self.place = series.place
        self.name = name
        self.is_pattern = is_pattern
        self.safe_name = name if is_pattern else safe_name(name)
        self.entered = itertools.count()
        self.finished = 0
        self.depth: Dict[int, int] = {}
        """How many calls are open now, by thread."""
        self.since_ns: Dict[int, int] = {}
        """When the outermost call that is open was entered, by thread, if that was while it was recorded."""
        self.module: Optional[Dict[str, Any]] = None
        """Of a module's region: its `class`, its class's `forward` (file and line), and whether it `is_compiled`."""

    def is_open_here(self) -> bool:
        return self.depth.get(threading.get_native_id(), 0) > 0

    def is_nested_in_itself(self) -> bool:
        return self.depth.get(threading.get_native_id(), 0) > 1


def pattern_of(name: str) -> str:
    """As `numbered.pattern_of` of the core: the name with `N` for each number in it."""
    return _NUMBER.sub("N", name)


def safe_name(name: str) -> str:
    """The same text if a trace keeps it as it is, else readable printable ASCII without `"` and backslash.

    Kineto writes `"` unescaped, which makes the whole file invalid, and turns other text into `unknown`
    (facts/kineto.md, "Names"). Names that come out alike are told apart by the log.
    """
    if name.isascii() and name.isprintable() and '"' not in name and "\\" not in name:
        return name
    readable = name.replace('"', "'").replace("\\", "/")
    return "".join(_safe_characters(readable))


def _safe_characters(text: str) -> Iterator[str]:
    for character in text:
        if character.isascii():
            yield character if character.isprintable() else " "
        else:
            yield "{%x}" % ord(character)
