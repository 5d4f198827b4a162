"""What was measured, by file, and where it belongs in the text as it now is.

Knows results and documents; how they are shown is for others.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields, replace
from functools import cached_property
from pathlib import Path
from typing import Any, TypeAlias

from kinetoscope_core.analysis.numbered_names import pattern_of
from kinetoscope_core.errors import Problem
from kinetoscope_core.results.measures import Finding, RegionMeasures, Unmeasured
from kinetoscope_core.results.result import Result, from_dict, rows_of, share_of
from kinetoscope_core.source.placement import Fingerprint, Placement, Placer
from kinetoscope_core.source.regions import Region
from kinetoscope_core.source.regions.which_region import shown_at
from kinetoscope_core.text import printable
from kinetoscope_server.text.documents import Document

Fingerprints = tuple[Fingerprint, ...]
Row: TypeAlias = RegionMeasures | Unmeasured
"""What a result tells of a region: its measures, or that it was entered and has no time."""

_LARGE = ("call_times", "timeline")


@dataclass(frozen=True, slots=True, eq=False)
class Shown:
    """A result that is shown, without what is large in it. `run` is its id in the archive. `fingerprints` are those of
    the files it measured, by resolved path, as they were then.
    """

    result: Result
    run: str
    fingerprints: Mapping[str, Fingerprints]

    @classmethod
    def of(cls, values: dict[str, Any], run: str) -> "Shown":
        """From a result's JSON. Raises `UsageError` for anything else."""
        result = from_dict(values)
        regions, groups = (tuple(map(_without_large, each)) for each in (result.regions, result.groups))
        result = replace(result, regions=regions, groups=groups)
        return cls(result, run, {resolved(file): fingerprints for file, fingerprints in result.sources.items()})


@dataclass(frozen=True, eq=False)
class Measured:
    """The measures of one region, how it stood then with all others of its file, and the result they are part of.

    `names` are those of a series, one by one, as far as the result keeps them.
    """

    region: Row
    fingerprint: Fingerprint
    fingerprints: Fingerprints
    shown: Shown
    names: Sequence[RegionMeasures] = ()

    @property
    def is_series(self) -> bool:
        return isinstance(self.region, RegionMeasures) and self.region.names > 1

    @property
    def findings(self) -> Sequence[Finding]:
        return findings_of(self.region)

    @cached_property
    def pattern(self) -> str:
        return pattern_of(self.region.name)

    @cached_property
    def values(self) -> dict[str, Any]:
        """The measures as plain values. Kept, as they are sent after each pause in typing: 1,000 take 90 ms to make."""
        return {name: value for name, value in values_of(self.region).items() if name not in _LARGE}


@dataclass(frozen=True, slots=True)
class Placed:
    """Measures at the region of a text that they belong to. They are stale for the `reasons`, if any."""

    measured: Measured
    region: Region
    reasons: tuple[str, ...]

    @property
    def is_stale(self) -> bool:
        return bool(self.reasons)


@dataclass(slots=True)
class _Kept:
    """What was found out about an open document: for which state of it, and how to find out again."""

    state: tuple[int, int]
    placed: Sequence[Placed]
    # By the identity of the prints that each places.
    placers: dict[int, Placer] = field(default_factory=dict[int, Placer])


def _without_large(region: RegionMeasures) -> RegionMeasures:
    """The measures without those of single calls: hundreds of values, and shown by few clients."""
    return replace(region, call_times=(), timeline=None)


def values_of(region: Row) -> dict[str, Any]:
    """The measures as plain values; of a region that has none the same ones, null where there would be a time."""
    if isinstance(region, RegionMeasures):
        return asdict(region)
    none = dict.fromkeys(each.name for each in fields(RegionMeasures))
    known = {"measured": 0, "is_cold": False, "overhead_ns": 0, "names": 1}
    untimed = {"untimed": region.calls - region.unfinished}
    return {**none, **known, **untimed, **asdict(region)}


def rows_to_show(result: Result) -> list[Row]:
    """What is shown of a result: the regions, each series in the place of its names, and what has no time."""
    return [*rows_of(result), *result.unmeasured]


def findings_of(region: Row) -> Sequence[Finding]:
    return () if isinstance(region, Unmeasured) else region.findings


def share_in(result: Result, region: Row) -> float | None:
    """As `share_of`; `None` of a region without times."""
    return None if isinstance(region, Unmeasured) else share_of(region, result)


def resolved(file: str) -> str:
    return str(Path(file).resolve())


class Board:
    """The measures to show. Newer ones replace older ones of the same region and name."""

    def __init__(self) -> None:
        # By file, then by what makes a region the same: the newest stands last.
        self._by_file: defaultdict[str, dict[tuple[object, ...], Measured]] = defaultdict(dict)
        # The files that each result measured, the newest result last.
        self._files: dict[str, set[str]] = {}
        self._number = 0
        self._kept: dict[str, _Kept] = {}

    def add(self, shown: Shown) -> None:
        """Takes a result in."""
        self._number += 1
        self._files.pop(shown.run, None)
        measured: defaultdict[str, list[Row]] = defaultdict(list)
        for region in rows_to_show(shown.result):
            if region.file is not None:
                measured[resolved(region.file)].append(region)
        names: defaultdict[tuple[object, ...], list[RegionMeasures]] = defaultdict(list)
        for region in shown.result.regions:
            if region.series is not None:
                names[region.series, region.file, region.line].append(region)
        self._files[shown.run] = set(measured)
        for file, regions in measured.items():
            fingerprints = self._shared(file, shown.fingerprints.get(file, ()))
            by_line: defaultdict[int | None, list[Fingerprint]] = defaultdict(list)
            for each in fingerprints:
                by_line[each.line].append(each)
            for region in regions:
                found = shown_at(by_line[region.line], region.line, region.name)
                if found is not None:
                    identity = (region.name, found.pattern, found.kind, found.path, found.ordinal)
                    of_series = names.get((region.name, region.file, region.line), ())
                    self._by_file[file].pop(identity, None)
                    self._by_file[file][identity] = Measured(region, found, fingerprints, shown, of_series)
        for problem in shown.result.problems:
            self._drop_not_reached(problem, shown)

    def clear(self, path: str | None = None) -> None:
        """Forgets the measures of one file, or all."""
        self._number += 1
        if path is None:
            self._by_file.clear()
            self._files.clear()
        else:
            self._by_file.pop(path, None)
            for files in self._files.values():
                files.discard(path)

    def drop(self, run: str) -> None:
        """Forgets all that one result measured."""
        self._number += 1
        self._files.pop(run, None)
        for entries in self._by_file.values():
            for identity in [each for each, measured in entries.items() if measured.shown.run == run]:
                del entries[identity]

    def newest(self, path: str | None) -> str | None:
        """The id of the newest result that measured regions of the file, or of any."""
        return next((run for run, files in reversed(self._files.items()) if path is None or path in files), None)

    def forget(self, placed: Iterable[Placed]) -> None:
        """Forgets these measures alone."""
        self._number += 1
        gone = {each.measured for each in placed}
        for entries in self._by_file.values():
            for identity in [identity for identity, measured in entries.items() if measured in gone]:
                del entries[identity]

    def placed(self, document: Document) -> Sequence[Placed]:
        """The measures of the document's file at the regions of its text, in the order of the text."""
        state = (document.number, self._number)
        kept = self._kept.get(document.uri)
        if kept is None:
            kept = self._kept[document.uri] = _Kept((-1, -1), ())
        if kept.state != state:
            kept.placed = self._place(document, kept.placers)
            kept.state = state
        return kept.placed

    def closed(self, document: Document) -> None:
        self._kept.pop(document.uri, None)

    def _shared(self, file: str, fingerprints: Fingerprints) -> Fingerprints:
        """Those of an earlier run of the same text, so that they are placed once for all of its runs."""
        known = {id(measured.fingerprints): measured.fingerprints for measured in self._by_file[file].values()}
        return next((each for each in known.values() if each == fingerprints), fingerprints)

    def _place(self, document: Document, placers: dict[int, Placer]) -> list[Placed]:
        entries = list(self._by_file.get(document.path, {}).values())
        wanted = {id(measured.fingerprints): measured.fingerprints for measured in entries}
        for gone in placers.keys() - wanted.keys():
            del placers[gone]
        placements: dict[int, Placement] = {}
        for key, fingerprints in wanted.items():
            if key not in placers:
                placers[key] = Placer(fingerprints)
            placements.update((id(each.fingerprint), each) for each in placers[key].place(document.source))
        found: list[Placed] = []
        for measured in entries:
            placement = placements[id(measured.fingerprint)]
            if placement.region is not None:
                reasons = tuple(reasons_of(placement)) if placement.is_stale else ()
                found.append(Placed(measured, placement.region, reasons))
        if len(wanted) > 1 or any(measured.is_series for measured in entries):
            found = _newest(found)
        return sorted(found, key=lambda each: (each.region.line, each.region.call))

    def _drop_not_reached(self, problem: Problem, shown: Shown) -> None:
        """A whole run that did not reach a region says more than the times that it had before."""
        if problem.code != "region-not-reached" or problem.file is None:
            return
        file = resolved(problem.file)
        missed = [each for each in shown.fingerprints.get(file, ()) if each.line == problem.line]
        names = {(each.pattern, each.kind, each.path, each.ordinal) for each in missed}
        entries = self._by_file[file]
        for identity in [identity for identity in entries if identity[1:] in names]:
            if entries[identity].shown is not shown:
                del entries[identity]


def _newest(found: Iterable[Placed]) -> list[Placed]:
    """The last one of each region and name; a series and its names, from different runs, are the same region."""
    by_pattern: defaultdict[tuple[object, ...], list[Placed]] = defaultdict(list)
    for each in found:
        by_pattern[each.region.item, each.region.call, each.measured.pattern].append(each)
    newest: list[Placed] = []
    for alike in by_pattern.values():
        last = alike[-1].measured.shown
        has_series = any(each.measured.is_series for each in alike)
        kept = (each for each in alike if not has_series or each.measured.shown is last)
        newest += {each.measured.region.name: each for each in kept}.values()
    return newest


def reasons_of(placement: Placement) -> Iterator[str]:
    """Why the times are no longer those of the code, for people."""
    if placement.stale_because == "renamed":
        yield f"it was called {printable(placement.fingerprint.name)} when it was measured"
    elif placement.stale_because == "own code changed":
        yield "its code has changed since it was measured"
    elif placement.stale_because == "function changed":
        yield "the function around it has changed since it was measured"
