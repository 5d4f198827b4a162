"""What was measured, by file, and where it belongs in the text as it now is.

Knows results and documents; how they are shown is for others.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields, replace
from datetime import datetime, timezone
from functools import cached_property
from pathlib import Path
from typing import Any, TypeAlias

from kinetoscope_core.results.measures import Finding, RegionMeasures, Unmeasured
from kinetoscope_core.results.result import Result, from_dict, rows_of, share_of
from kinetoscope_core.source.placement import Fingerprint, Placement, Placer
from kinetoscope_core.source.regions import Region
from kinetoscope_core.source.regions.which_region import shown_at
from kinetoscope_core.text import printable
from kinetoscope_server.results.titles import script_text
from kinetoscope_server.text.documents import Document

Fingerprints = tuple[Fingerprint, ...]
Row: TypeAlias = RegionMeasures | Unmeasured
"""What a result tells of a region: its measures, or that it was entered and has no time."""

_LARGE = ("call_times", "timeline")


@dataclass(frozen=True, eq=False)
class Shown:
    """A result that is shown, without what is large in it. `run` is its id in the archive. `fingerprints` are those of
    the files it measured, by resolved path, as they were then. `when` it was begun, or loaded, is ISO 8601 in UTC.
    """

    result: Result
    run: str
    fingerprints: Mapping[str, Fingerprints]
    when: str

    @classmethod
    def of(cls, values: dict[str, Any], run: str) -> "Shown":
        """From a result's JSON. Raises `UsageError` for anything else."""
        result = from_dict(values)
        regions, groups = (tuple(map(_without_large, each)) for each in (result.regions, result.groups))
        result = replace(result, regions=regions, groups=groups)
        by_file = {resolved(file): fingerprints for file, fingerprints in result.sources.items()}
        now = datetime.now(timezone.utc).isoformat(timespec="seconds")
        return cls(result, run, by_file, now if result.run is None else result.run.started)

    @property
    def is_focused(self) -> bool:
        """Whether one region alone was measured."""
        return self.result.run is not None and self.result.run.region is not None

    @cached_property
    def script(self) -> object:
        """What results have in common that stand for each other: the script, or the names of traces from elsewhere."""
        run = self.result.run
        if run is None:
            return tuple(trace.name for trace in self.result.traces)
        return run.is_module, run.script if run.is_module else str(Path(run.folder or "", run.script))

    @cached_property
    def command(self) -> object:
        """What results have in common that differ in the measured region alone."""
        run = self.result.run
        return self.script, run and (run.arguments, run.interpreter, run.environment)


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
    def values(self) -> dict[str, Any]:
        """The measures as plain values. Kept, as they are sent after each pause in typing: 1,000 take 90 ms to make."""
        return {name: value for name, value in values_of(self.region).items() if name not in _LARGE}


@dataclass(frozen=True, slots=True)
class Placed:
    """Measures at the region of a text that they belong to. They are stale for the `reasons`, if any. `origin` says of
    which other result they are, for people; it is empty for the one that the file shows.
    """

    measured: Measured
    region: Region
    reasons: tuple[str, ...]
    origin: str = ""

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


@dataclass(frozen=True, slots=True, eq=False)
class _InFile:
    """What a result says of a file: its measures, and the regions it speaks for, with those that it did not reach."""

    shown: Shown
    fingerprints: Fingerprints
    measured: list[Measured]
    speaks_for: list[Fingerprint]


class Board:
    """The measures to show. A file shows one result: the newest that has something to say of it, or the chosen one.

    Where that says nothing, the newest of each other script does, and, if it measured one region alone, the runs of the
    same command back to the last whole one; `Placed.origin` tells so. No line has measures of two results.
    """

    def __init__(self) -> None:
        # By file and run, the newest last.
        self._by_file: defaultdict[str, dict[str, _InFile]] = defaultdict(dict)
        self._chosen: dict[str, str] = {}
        self._runs: dict[str, Shown] = {}
        self._number = 0
        self._kept: dict[str, _Kept] = {}

    def add(self, shown: Shown) -> None:
        """Takes a result in. In the files of which it is the newest, it is shown."""
        self._number += 1
        self._runs[shown.run] = shown
        rows: defaultdict[str, list[Row]] = defaultdict(list)
        for row in rows_to_show(shown.result):
            if row.file is not None:
                rows[resolved(row.file)].append(row)
        not_reached: defaultdict[str, set[int | None]] = defaultdict(set)
        was_cut = shown.result.run is not None and shown.result.run.ending != "ended"
        for problem in shown.result.problems:
            if problem.code == "region-not-reached" and problem.file is not None and not was_cut:
                not_reached[resolved(problem.file)].add(problem.line)
        for file in {**rows, **not_reached}:
            results = {run: each for run, each in self._by_file[file].items() if run != shown.run}
            fingerprints = self._shared(file, shown.fingerprints.get(file, ()))
            results[shown.run] = _in_file(shown, fingerprints, rows[file], not_reached[file])
            self._by_file[file] = dict(sorted(results.items(), key=lambda item: item[1].shown.when))
            if next(reversed(self._by_file[file])) == shown.run:
                self._chosen.pop(file, None)

    def choose(self, run: str, path: str | None = None) -> list[str]:
        """Shows a result in one file, or in all that it measured, until there is a newer one; the files it is in."""
        self._number += 1
        files = [file for file, results in self._by_file.items() if run in results and path in (None, file)]
        self._chosen.update(dict.fromkeys(files, run))
        return files

    def results(self, path: str) -> list[Shown]:
        """All that say something of a file, the newest first."""
        return [each.shown for each in reversed(self._by_file.get(path, {}).values())]

    def shown(self, path: str | None) -> Shown | None:
        """The result that the file shows; without a file the newest of all."""
        if path is None:
            return max(reversed(self._runs.values()), key=lambda each: each.when, default=None)
        results = self._by_file.get(path)
        return results[self._chosen.get(path) or next(reversed(results))].shown if results else None

    def clear(self, path: str | None = None) -> None:
        """Forgets the measures of one file, or all."""
        self._number += 1
        if path is None:
            self._by_file.clear()
            self._chosen.clear()
            self._runs.clear()
        else:
            self._by_file.pop(path, None)
            self._chosen.pop(path, None)

    def drop(self, run: str) -> None:
        """Forgets all that one result measured."""
        self._number += 1
        self._runs.pop(run, None)
        for results in self._by_file.values():
            results.pop(run, None)
        self._chosen = {file: chosen for file, chosen in self._chosen.items() if chosen != run}

    def forget(self, placed: Iterable[Placed]) -> None:
        """Forgets these measures alone."""
        self._number += 1
        gone = {each.measured for each in placed}
        for results in self._by_file.values():
            for each in results.values():
                each.measured[:] = [measured for measured in each.measured if measured not in gone]

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
        known = (each.fingerprints for each in self._by_file[file].values())
        return next((each for each in known if each == fingerprints), fingerprints)

    def _place(self, document: Document, placers: dict[int, Placer]) -> list[Placed]:
        speaking = list(self._speaking(document.path))
        wanted = {id(each.fingerprints): each.fingerprints for each, _ in speaking}
        for gone in placers.keys() - wanted.keys():
            del placers[gone]
        placements: dict[int, Placement] = {}
        for key, fingerprints in wanted.items():
            if key not in placers:
                placers[key] = Placer(fingerprints)
            placements.update((id(each.fingerprint), each) for each in placers[key].place(document.source))
        found: list[Placed] = []
        taken: set[int] = set()
        for each, origin in speaking:
            for measured in each.measured:
                placement = placements[id(measured.fingerprint)]
                if placement.region is not None and placement.region.line not in taken:
                    reasons = tuple(reasons_of(placement)) if placement.is_stale else ()
                    found.append(Placed(measured, placement.region, reasons, origin))
            regions = (placements[id(fingerprint)].region for fingerprint in each.speaks_for)
            taken.update(region.line for region in regions if region is not None)
        return sorted(found, key=lambda each: (each.region.line, each.region.call))

    def _speaking(self, path: str) -> Iterator[tuple[_InFile, str]]:
        """The results that have a say in a file, each with its origin: who comes first has it."""
        shown = self.shown(path)
        if shown is None:
            return
        results = self._by_file[path]
        yield results[shown.run], ""
        if shown.result.run is None:
            return
        newest_first = [*reversed(results.values())]
        for each in newest_first if shown.is_focused else ():
            if each.shown is not shown and each.shown.command == shown.command:
                yield each, "earlier run" if each.shown.when <= shown.when else "later run"
                if not each.shown.is_focused:
                    break
        scripts = {shown.script}
        for each in newest_first:
            if each.shown.script not in scripts:
                scripts.add(each.shown.script)
                yield each, f"from {script_text(each.shown.result, shown.result)}"


def _in_file(
    shown: Shown, fingerprints: Fingerprints, rows: Sequence[Row], not_reached: Collection[int | None]
) -> _InFile:
    by_line: defaultdict[int | None, list[Fingerprint]] = defaultdict(list)
    for each in fingerprints:
        by_line[each.line].append(each)
    names: defaultdict[tuple[object, ...], list[RegionMeasures]] = defaultdict(list)
    for region in shown.result.regions:
        if region.series is not None:
            names[region.series, region.file, region.line].append(region)
    measured = [
        Measured(row, found, fingerprints, shown, names.get((row.name, row.file, row.line), ()))
        for row in rows
        if (found := shown_at(by_line[row.line], row.line, row.name)) is not None
    ]
    missed = (each for line in not_reached for each in by_line[line])
    return _InFile(shown, fingerprints, measured, [*(each.fingerprint for each in measured), *missed])


def reasons_of(placement: Placement) -> Iterator[str]:
    """Why the times are no longer those of the code, for people."""
    if placement.stale_because == "renamed":
        yield f"it was called {printable(placement.fingerprint.name)} when it was measured"
    elif placement.stale_because == "own code changed":
        yield "its code has changed since it was measured"
    elif placement.stale_because == "function changed":
        yield "the function around it has changed since it was measured"
