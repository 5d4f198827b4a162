"""Which region is meant: by what a run saw, by what a person typed, or as the region of another state of the text.

Lines are from 1. Which region of edited text a measured one has become is for placement/, which compares their code.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Protocol, TypeVar

from kinetoscope_core.source.regions.edited_text import SourceRegions
from kinetoscope_core.source.regions.name_patterns import GAP, NamePattern
from kinetoscope_core.source.regions.region import Kind, Region


class _Shown(Protocol):
    """A region, or the fingerprint of one."""

    @property
    def pattern(self) -> NamePattern: ...
    @property
    def kind(self) -> Kind: ...
    @property
    def line(self) -> int: ...
    @property
    def is_exact(self) -> bool: ...
    def matches(self, runtime_name: str) -> bool: ...


_AnyShown = TypeVar("_AnyShown", bound=_Shown)


def around(regions: Iterable[Region], line: int) -> Iterator[Region]:
    """Those whose statement, up to the end of what enters them, holds the line."""
    return (region for region in regions if region.statement_line <= line <= region.last_line)


# --- what a run saw


def entered_at(regions: Iterable[Region], line: int, name: str) -> Region | None:
    """The region that was entered at `line` under `name`, or `None`.

    `line` is `frame.f_lineno` of the code that entered it, or `co_firstlineno` of the decorated function. CPython up
    to 3.12 reports the line of the `with` keyword for every item, 3.13 that of the item, and the line of a call spread
    over several lines differs as well: any line of the statement up to the end of the item is taken, the closest wins.
    """

    def strangeness(region: Region) -> tuple[object, ...]:
        is_elsewhere = not region.item.start.row < line <= region.item.end.row + 1
        return is_elsewhere, _vagueness(region), abs(region.line - line)

    return min((each for each in around(regions, line) if each.matches(name)), key=strangeness, default=None)


def shown_at(known: Iterable[_AnyShown], line: int | None, name: str) -> _AnyShown | None:
    """The region that is shown at the line and that measures with this name belong to. Where two would do, one that
    the source names goes first, and of these an exact name.
    """
    fitting = [each for each in known if each.line == line and each.matches(name)]
    return fitting[0] if len(fitting) == 1 else min(fitting, key=_vagueness, default=None)


def places_of_names(files: Mapping[str, "RegionsByName"], names: Iterable[str]) -> dict[str, tuple[str, Region]]:
    """Where the names stand, as far as that is certain: file and region, where nothing but the names is known. An exact
    name goes before a pattern, and a pattern of which the source tells nothing would fit all. Of several files that
    have a name, it is the one that has most of them, unless two have as many.
    """
    found = {name: _regions_named(files, name) for name in names}
    counts = Counter(file for by_file in found.values() for file in by_file)
    places: dict[str, tuple[str, Region]] = {}
    for name, by_file in found.items():
        most = max((counts[file] for file in by_file), default=0)
        likeliest = [(file, regions) for file, regions in by_file.items() if counts[file] == most]
        if len(likeliest) == 1 and len(likeliest[0][1]) == 1:
            places[name] = likeliest[0][0], likeliest[0][1][0]
    return places


def _regions_named(files: Mapping[str, "RegionsByName"], name: str) -> dict[str, Sequence[Region]]:
    """The regions that can have the name, by file."""
    for find in (RegionsByName.exactly, RegionsByName.by_pattern):
        found = {file: named for file, regions in files.items() if (named := find(regions, name))}
        if found:
            return found
    return {}


class RegionsByName:
    """The regions of a file, for many questions."""

    def __init__(self, regions: Iterable[Region]) -> None:
        self._exact: defaultdict[str, list[Region]] = defaultdict(list)
        self._others: list[Region] = []
        for region in regions:
            (self._exact[region.name] if region.is_exact else self._others).append(region)

    def exactly(self, name: str) -> Sequence[Region]:
        """Those that have this name."""
        return self._exact.get(name, ())

    def by_pattern(self, name: str) -> Sequence[Region]:
        """Those that may have this name by what the source tells of theirs."""
        return [each for each in self._others if each.pattern.literal_length and each.matches(name)]

    def entered_at(self, line: int, name: str) -> Region | None:
        """As the function."""
        return entered_at([*self.exactly(name), *self._others], line, name)


def _vagueness(each: _Shown) -> tuple[bool, bool, int]:
    return each.kind == "statement", not each.is_exact, -each.pattern.literal_length


# --- what a person asks for


def standing_at(source: SourceRegions, line: int) -> list[Region]:
    """The regions at the line, else the statement there, for which a helper may enter one; none where no code is."""
    here = list(around(source.regions, line))
    statement = None if here else source.statement_at(line - 1)
    return here if statement is None else [statement]


def written_as(regions: Iterable[Region], name: str) -> list[Region]:
    """Those whose name has gaps, as it stands in the source or is shown: `layer_{i}` or `layer_{…}`."""
    shown = re.sub(r"\{[^{}]*\}", GAP, name)
    return [region for region in regions if region.name == shown and not region.is_exact]


def nearest_named(regions: Iterable[Region], name: str, line: int) -> Region | None:
    """That of the shown name, nearest to the line where it stood when somebody clicked at it."""
    return min((each for each in regions if each.name == name), key=lambda each: abs(each.line - line), default=None)


def same_in(source: SourceRegions, wanted: Region) -> Region | None:
    """The region of another state of its text: the like-named one of the same function, else of the file, nearest to
    its line.
    """
    regions = source.statements_reading(wanted.name) if wanted.kind == "statement" else source.regions
    fitting = [region for region in regions if region.pattern == wanted.pattern]
    fitting = [region for region in fitting if region.path == wanted.path] or fitting
    return nearest_named(fitting, wanted.name, wanted.line)
