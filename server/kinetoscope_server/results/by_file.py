"""What was measured, by file, and where it belongs in the text as it now is.

Knows results and documents; how they are shown is for others.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Final

from kinetoscope_core.results.measures import Finding, RegionMeasures, RegionName
from kinetoscope_core.source.placement import Fingerprint, Placement, Placer
from kinetoscope_core.source.regions import Region
from kinetoscope_core.source.regions.which_region import shown_at
from kinetoscope_core.text import printable
from kinetoscope_server.results.shown import Fingerprints, Row, Shown, findings_of, resolved, rows_to_show, values_of
from kinetoscope_server.results.titles import script_text
from kinetoscope_server.text.documents import Document

_LARGE: Final = ("call_times", "timeline")


@dataclass(frozen=True, eq=False)
class Measured:
    """The measures of one region, how it stood then with all others of its file, and the result they are part of.

    `names` are those of a series, one by one, as far as the result keeps them. Of a module, `inside` are those that the
    same line made, one level in. With `is_forward` it stands at the `forward` of its class, not where it was made.
    """

    region: Row
    fingerprint: Fingerprint
    fingerprints: Fingerprints
    shown: Shown
    names: Sequence[RegionMeasures] = ()
    inside: Sequence[RegionMeasures] = ()
    is_forward: bool = False

    @property
    def is_module(self) -> bool:
        return isinstance(self.region, RegionMeasures) and self.region.module is not None

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


@dataclass(frozen=True, slots=True, eq=False)
class _Part:
    """What a result says of a file: its measures, and the regions it speaks for, with those that it did not reach."""

    shown: Shown
    fingerprints: Fingerprints
    measured: list[Measured]
    speaks_for: list[Fingerprint]
    origin: str = ""


class Board:
    """The measures to show. A file shows one result: the newest that has something to say of it, or the chosen one.

    Where that says nothing, the newest of each other script does, and, if it measured one region alone, the runs of the
    same command back to the last whole one; `Placed.origin` tells so. No line has measures of two results.
    """

    def __init__(self) -> None:
        # By file and run, the newest last.
        self._by_file: defaultdict[str, dict[str, _Part]] = defaultdict(dict)
        self._chosen: dict[str, str] = {}
        self._runs: dict[str, Shown] = {}
        self._number = 0
        self._plans: dict[str, list[_Part]] = {}
        self._kept: dict[str, _Kept] = {}

    def add(self, shown: Shown) -> None:
        """Takes a result in. In the files of which it is the newest, it is shown."""
        self._changed()
        self._runs[shown.run] = shown
        rows: defaultdict[str, list[Row]] = defaultdict(list)
        forwards: defaultdict[str, list[RegionMeasures]] = defaultdict(list)
        for row in rows_to_show(shown.result):
            if row.file is not None:
                rows[resolved(row.file)].append(row)
            if isinstance(row, RegionMeasures) and row.module is not None and row.module.file is not None:
                forwards[resolved(row.module.file)].append(row)
        not_reached: defaultdict[str, set[int | None]] = defaultdict(set)
        was_cut = shown.result.run is not None and shown.result.run.ending != "ended"
        for problem in shown.result.problems:
            if problem.code == "region-not-reached" and problem.file is not None and not was_cut:
                not_reached[resolved(problem.file)].add(problem.line)
        for file in {**rows, **forwards, **not_reached}:
            results = {run: each for run, each in self._by_file[file].items() if run != shown.run}
            fingerprints = self._shared(file, shown.fingerprints.get(file, ()))
            results[shown.run] = _part(shown, fingerprints, rows[file], forwards[file], not_reached[file])
            self._by_file[file] = dict(sorted(results.items(), key=lambda item: item[1].shown.when))
            if next(reversed(self._by_file[file])) == shown.run:
                self._chosen.pop(file, None)

    def choose(self, run: str, path: str | None = None) -> list[str]:
        """Shows a result in one file, or in all that it measured, until there is a newer one; the files it is in."""
        self._changed()
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
        self._changed()
        if path is None:
            self._by_file.clear()
            self._chosen.clear()
            self._runs.clear()
        else:
            self._by_file.pop(path, None)
            self._chosen.pop(path, None)

    def drop(self, run: str) -> None:
        """Forgets all that one result measured."""
        self._changed()
        self._runs.pop(run, None)
        for results in self._by_file.values():
            results.pop(run, None)
        self._chosen = {file: chosen for file, chosen in self._chosen.items() if chosen != run}

    def forget(self, placed: Iterable[Placed]) -> None:
        """Forgets these measures alone."""
        self._changed()
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

    def _changed(self) -> None:
        self._number += 1
        self._plans.clear()

    def _shared(self, file: str, fingerprints: Fingerprints) -> Fingerprints:
        """Those of an earlier run of the same text, so that they are placed once for all of its runs."""
        known = (each.fingerprints for each in self._by_file[file].values())
        return next((each for each in known if each == fingerprints), fingerprints)

    def _place(self, document: Document, placers: dict[int, Placer]) -> list[Placed]:
        if document.path not in self._plans:
            self._plans[document.path] = list(_planned(self._speaking(document.path)))
        plan = self._plans[document.path]
        wanted = {id(part.fingerprints): part.fingerprints for part in plan}
        for gone in placers.keys() - wanted.keys():
            del placers[gone]
        placements: dict[int, Placement] = {}
        for key, fingerprints in wanted.items():
            if key not in placers:
                placers[key] = Placer(fingerprints)
            placements.update((id(each.fingerprint), each) for each in placers[key].place(document.source))
        found: list[Placed] = []
        taken: set[int] = set()
        for part in plan:
            for measured in part.measured:
                placement = placements[id(measured.fingerprint)]
                if placement.region is not None and placement.region.line not in taken:
                    reasons = tuple(reasons_of(placement)) if placement.is_stale else ()
                    found.append(Placed(measured, placement.region, reasons, part.origin))
            if len(plan) > 1:
                regions = (placements[id(fingerprint)].region for fingerprint in part.speaks_for)
                taken.update(region.line for region in regions if region is not None)
        return sorted(found, key=lambda each: (each.region.line, each.region.call))

    def _speaking(self, path: str) -> Iterator[_Part]:
        """The results that have a say in a file: who comes first has it."""
        shown = self.shown(path)
        if shown is None:
            return
        results = self._by_file[path]
        yield results[shown.run]
        if shown.result.run is None:
            return
        newest_first = [*reversed(results.values())]
        for each in newest_first if shown.is_focused else ():
            if each.shown is not shown and each.shown.command == shown.command:
                yield replace(each, origin="earlier run" if each.shown.when <= shown.when else "later run")
                if not each.shown.is_focused:
                    break
        scripts = {shown.script}
        for each in newest_first:
            if each.shown.script not in scripts:
                scripts.add(each.shown.script)
                yield replace(each, origin=f"from {script_text(each.shown.result, shown.result)}")


def _planned(speaking: Iterable[_Part]) -> Iterator[_Part]:
    """Without what is another's already by its name: not placed after each keystroke, when it would not be shown."""
    spoken_for: set[object] = set()
    for number, part in enumerate(speaking):
        measured = [each for each in part.measured if _identity(each.fingerprint) not in spoken_for]
        if measured or number == 0:
            yield replace(part, measured=measured)
        spoken_for.update(map(_identity, part.speaks_for))


def _identity(fingerprint: Fingerprint) -> tuple[object, ...]:
    return fingerprint.pattern, fingerprint.kind, fingerprint.path, fingerprint.ordinal


def _part(
    shown: Shown,
    fingerprints: Fingerprints,
    rows: Sequence[Row],
    forwards: Sequence[RegionMeasures],
    not_reached: Collection[int | None],
) -> _Part:
    by_line: defaultdict[int | None, list[Fingerprint]] = defaultdict(list)
    for each in fingerprints:
        by_line[each.line].append(each)
    names: defaultdict[tuple[object, ...], list[RegionMeasures]] = defaultdict(list)
    for region in shown.result.regions:
        if region.series is not None:
            names[region.series, region.file, region.line].append(region)
    inside, outermost = _by_level(rows)
    measured = [
        Measured(row, found, fingerprints, shown, names.get(_place(row), ()), inside.get(_place(row), ()))
        for row in outermost
        if (found := shown_at(by_line[row.line], row.line, row.name)) is not None
    ]
    for row in slowest_first(forwards):
        line = row.module.line if row.module else None
        found = shown_at(by_line[line], line, row.name)
        if found is not None:
            own = names.get(_place(row), ())
            measured.append(Measured(row, found, fingerprints, shown, own, is_forward=True))
    missed = (each for line in not_reached for each in by_line[line])
    return _Part(shown, fingerprints, measured, [*(each.fingerprint for each in measured), *missed])


_Place = tuple[str, str | None, int | None]


def _place(row: Row | RegionName) -> _Place:
    return row.name, row.file, row.line


def _by_level(rows: Sequence[Row]) -> tuple[dict[_Place, list[RegionMeasures]], list[Row]]:
    """Of modules that one line made those that lie in another of them, one level in, by that one; and all other rows.
    A model of a library, made at one line, has dozens of modules.
    """
    by_place = {_place(row): row for row in rows}
    inside: defaultdict[_Place, list[RegionMeasures]] = defaultdict(list)
    outermost: list[Row] = []
    for row in rows:
        around = _around(row, by_place)
        while around is not None and around.line != row.line:
            around = _around(around, by_place)
        if around is None or not isinstance(row, RegionMeasures) or row.module is None:
            outermost.append(row)
        else:
            inside[_place(around)].append(row)
    return inside, outermost


def _around(row: Row, by_place: Mapping[_Place, Row]) -> Row | None:
    return None if row.parent is None else by_place.get(_place(row.parent))


def slowest_first(rows: Iterable[RegionMeasures]) -> list[RegionMeasures]:
    """By the CUDA total of a call, or where there is none by the CPU total."""
    return sorted(
        rows, key=lambda row: (-(row.cuda_total_ns.median if row.cuda_total_ns else 0), -row.cpu_total_ns.median)
    )


def reasons_of(placement: Placement) -> Iterator[str]:
    """Why the times are no longer those of the code, for people."""
    if placement.stale_because == "renamed":
        yield f"it was called {printable(placement.fingerprint.name)} when it was measured"
    elif placement.stale_because == "own code changed":
        yield "its code has changed since it was measured"
    elif placement.stale_because == "function changed":
        yield "the function around it has changed since it was measured"
