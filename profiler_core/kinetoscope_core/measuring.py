"""From a run's folder, or from trace files, to a result: reads, attributes, places, summarises."""

import os
from collections import Counter
from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace
from pathlib import Path

from kinetoscope_core.attribution import Attribution, attribute
from kinetoscope_core.breakdown import breakdowns
from kinetoscope_core.errors import NothingMeasured
from kinetoscope_core.findings import BY_CODE, findings
from kinetoscope_core.measures import Device, Finding, Problem, RegionMeasures
from kinetoscope_core.outcomes import Outcome
from kinetoscope_core.problems import (
    adopted_without_cuda,
    changed_while_running,
    cupti_problems,
    ending_problem,
    not_reached,
    not_recorded,
    nothing_measured,
    outside_while_stopping,
    own_profiler_was_silent,
    saved_when_ended,
)
from kinetoscope_core.recording import Recording
from kinetoscope_core.regionlog import Entry, LoggedWindow, RegionLog, match_entries, read_region_log
from kinetoscope_core.regions import Region, region_at
from kinetoscope_core.results import Result, RunInfo
from kinetoscope_core.runconfig import RunConfig
from kinetoscope_core.saving import saves_when_ended
from kinetoscope_core.sources import Sources
from kinetoscope_core.summary import RegionKey, Window, regions_cpu_ns, summarise
from kinetoscope_core.timeline import timelines
from kinetoscope_core.trace import Trace, read_trace

NUMBERED_FROM = 64
"""After so many passages of a place a name seen for the first time is a numbered step, no longer a cold region."""

_SHOWN_AT_THE_REGION = ("profiler-overhead", "unfinished-region")
"""Of a run these are no news: the window opens with the profiler's own start-up and closes when enough is measured.
What of it lies in a measured region is shown there."""


@dataclass(frozen=True, slots=True)
class _Reading:
    """One trace, read and attributed, with its part of the summary's input."""

    trace: Trace
    attribution: Attribution
    problems: Sequence[Problem]

    @property
    def base_time_ns(self) -> int:
        return self.trace.metadata.base_time_ns or 0


def measure_run(
    config: RunConfig, outcome: Outcome, folder: Path, started: str, script: Path | None, sources: Sources
) -> Result:
    """The result of a run from what its runner left in `folder`. `script` is the source whose regions are known, and
    was read into `sources` before the run: it may have been edited since.

    Raises `NothingMeasured` or `TraceError`.
    """
    known = sources.regions_of(str(script)) if script else []
    log = read_region_log(folder)
    windows = _windows_that_count(log)
    if log is None or not windows:
        raise nothing_measured(outcome, len(known), log, config.focus)
    readings = [_read(window.trace) for window in windows]
    not_entered = _not_entered(log, known, script)
    unlogged = _keys_of_unlogged(not_entered, script)
    parts = [
        Window(
            reading.attribution.occurrences,
            *_keys_and_warmup(log, window, reading, sources, config.warmup, unlogged),
            base_time_ns=reading.base_time_ns,
        )
        for window, reading in zip(windows, readings, strict=True)
    ]
    regions, of_run = _summarised(readings, parts, sources)
    if not any(region.file for region in regions):
        raise nothing_measured(outcome, len(known), log, config.focus)
    is_adopted = windows[0].is_adopted
    problems = [
        problem for reading in readings for problem in reading.problems if problem.code not in _SHOWN_AT_THE_REGION
    ]
    problems += cupti_problems(log.failures)
    outside_ns = sum(reading.attribution.outside_ns or 0 for reading in readings)
    if log.was_quietened and not windows[0].is_adopted and outside_ns:
        problems.append(outside_while_stopping(outside_ns))
        of_run = tuple(each for each in of_run if each.code != "outside-regions")  # said with its cause
    measured = {(region.file, region.line) for region in regions}
    if config.focus is None:
        recorded = {RegionKey(region.name, region.file, region.line) for region in regions}
        problems += _not_recorded(log, recorded, sources, outcome.device.torch)
    if script is not None and config.focus is None and outcome.ending == "ended":
        missing = [region for region in not_entered if (str(script), region.line) not in measured]
        problems += [not_reached(str(script), region.line, region.name) for region in missing]
    ending = ending_problem(outcome)
    if ending is not None:
        problems.insert(0, ending)
    problems += [Problem(code, message) for code, message in outcome.problems]
    if outcome.was_ended_early and script is not None:
        problems += [saved_when_ended(str(script), *found) for found in saves_when_ended(sources.text_of(str(script)))]
    problems += [changed_while_running(file) for file in sorted(sources.changed)]
    if is_adopted and outcome.device.devices and not any(window.records_cuda for window in windows):
        problems.append(adopted_without_cuda())
    if log.was_aside and not is_adopted:
        problems.append(own_profiler_was_silent())
    info = RunInfo(
        script=config.script,
        is_module=config.is_module,
        arguments=config.arguments,
        interpreter=config.interpreter,
        python=outcome.python,
        started=started,
        seconds=outcome.seconds,
        ending=outcome.ending,
        was_ended_early=outcome.was_ended_early,
        warmup=config.warmup,
        active=config.active,
        is_adopted=is_adopted,
    )
    return _result(
        info,
        [window.trace for window in windows],
        readings,
        parts,
        regions,
        of_run,
        problems,
        outcome.device.torch,
        outcome.device.devices,
        _no_cuda_because(outcome, problems),
        sources,
    )


def measure_traces(paths: Sequence[Path], source_files: Sequence[Path]) -> Result:
    """The result of traces from elsewhere. Regions are placed where exactly one region of the sources has their name.

    Raises `NothingMeasured` if they hold no region and no device activity, or `TraceError`.
    """
    sources = Sources()
    places = [(str(file), region) for file in source_files for region in sources.regions_of(str(file))]
    readings = [_read(path) for path in paths]
    keys: dict[str, RegionKey] = {}
    parts: list[Window] = []
    for reading in readings:
        occurrences = reading.attribution.occurrences
        for occurrence in occurrences:
            if occurrence.name not in keys:
                keys[occurrence.name] = _key_by_name(occurrence.name, places)
        parts.append(Window(occurrences, [keys[o.name] for o in occurrences], base_time_ns=reading.base_time_ns))
    regions, of_run = _summarised(readings, parts, sources)
    problems = [problem for reading in readings for problem in reading.problems]
    if not regions and all(reading.attribution.device_total_ns is None for reading in readings):
        names = ", ".join(str(path) for path in paths)
        raise NothingMeasured(f"{names} holds no region and no device activity, so there is nothing to measure.")
    return _result(None, paths, readings, parts, regions, of_run, problems, None, (), None, sources)


def _read(path: Path) -> _Reading:
    trace, problems = read_trace(path)
    attribution = attribute(trace)
    return _Reading(trace, attribution, [*problems, *attribution.problems])


def _summarised(
    readings: Sequence[_Reading], windows: Sequence[Window], sources: Sources
) -> tuple[list[RegionMeasures], tuple[Finding, ...]]:
    """The regions with all that is known of them, and the findings of the run as a whole."""
    recordings = [
        Recording(each.trace, each.attribution, window) for each, window in zip(readings, windows, strict=True)
    ]
    parts, medians = breakdowns(recordings), timelines(recordings)
    measures = summarise(*windows)
    found = findings(recordings, measures)
    regions: list[RegionMeasures] = []
    for each in measures:
        key = RegionKey(each.name, each.file, each.line)
        ignored = sources.ignored_at(each.file, each.line, each.name) if each.file and each.line else ()
        here = tuple(replace(one, is_suppressed=one.code in ignored) for one in found.of_regions.get(key, ()))
        regions.append(replace(each, breakdown=parts[key], timeline=medians.get(key), findings=here))
    first = next((each.file for each in regions if each.file), None)
    ignored = sources.ignored_on_top_of(first) if first else ()
    return regions, tuple(replace(one, is_suppressed=one.code in ignored) for one in found.of_run)


def _windows_that_count(log: RegionLog | None) -> list[LoggedWindow]:
    """The script's own recordings, if it made any; ours was then only a beginning."""
    if log is None:
        return []
    adopted = [window for window in log.windows if window.is_adopted]
    return adopted or list(log.windows)


def _keys_and_warmup(
    log: RegionLog,
    window: LoggedWindow,
    reading: _Reading,
    sources: Sources,
    warmup: int,
    unlogged: Mapping[str, RegionKey],
) -> tuple[list[RegionKey], list[bool]]:
    """The place of each occurrence, and whether it is warm-up. A profiler of the script chose its own warm-up."""
    occurrences = reading.attribution.occurrences
    entries = match_entries(log, window, occurrences, reading.trace.metadata.base_time_ns)
    seen: Counter[str] = Counter()
    keys: list[RegionKey] = []
    flags: list[bool] = []
    for occurrence, entry in zip(occurrences, entries, strict=True):
        if entry is None:
            keys.append(unlogged.get(occurrence.name, RegionKey(occurrence.name)))
            flags.append(not window.is_adopted and seen[occurrence.name] < warmup)
            seen[occurrence.name] += 1
            continue
        region = log.regions[entry.region]
        keys.append(RegionKey(region.name, region.file, sources.line_of(region.file, region.line, region.name)))
        flags.append(not window.is_adopted and _is_warmup(entry, warmup))
    return keys, flags


def _is_warmup(entry: Entry, warmup: int) -> bool:
    return entry.passage < warmup and entry.place_passage < NUMBERED_FROM


def _not_entered(log: RegionLog, known: Sequence[Region], script: Path | None) -> list[Region]:
    """The regions of the script that the log saw no entry of."""
    entered = {
        region_at(known, logged.line, logged.name)
        for logged in log.regions
        if os.path.realpath(logged.file) == os.path.realpath(script or "")
    }
    return [region for region in known if region not in entered]


def _not_recorded(
    log: RegionLog, recorded: AbstractSet[RegionKey], sources: Sources, torch: str | None
) -> list[Problem]:
    """Regions that were entered, though never while it was recorded; not those of numbered steps."""
    missed: dict[tuple[str, int], list[str]] = {}
    for logged in log.regions:
        key = RegionKey(logged.name, logged.file, sources.line_of(logged.file, logged.line, logged.name))
        if key not in recorded:
            missed.setdefault((logged.file, key.line or 0), []).append(logged.name)
    return [
        not_recorded(file, line, names, torch) for (file, line), names in missed.items() if len(names) < NUMBERED_FROM
    ]


def _keys_of_unlogged(regions: Sequence[Region], script: Path | None) -> dict[str, RegionKey]:
    """Where a name belongs that is in the trace and not in the log: TorchScript enters its regions without Python.

    Only a name that is that of one region, and of one that the log saw no entry of.
    """
    names = Counter(region.name for region in regions if region.is_exact)
    return {
        region.name: RegionKey(region.name, str(script), region.line)
        for region in regions
        if region.is_exact and names[region.name] == 1
    }


def _key_by_name(name: str, places: Sequence[tuple[str, Region]]) -> RegionKey:
    """The place of the only region with that name; an exact name goes before a pattern.

    A name of which the source tells nothing would fit all.
    """
    telling = [(file, region) for file, region in places if region.is_exact or region.pattern.literal_length]
    for is_exact in (True, False):
        fitting = [(file, region) for file, region in telling if region.is_exact == is_exact and region.matches(name)]
        if len(fitting) == 1:
            file, region = fitting[0]
            return RegionKey(name, file, region.line)
        if fitting:
            break
    return RegionKey(name, None, None)


def _result(
    run: RunInfo | None,
    traces: Sequence[Path],
    readings: Sequence[_Reading],
    windows: Sequence[Window],
    regions: Sequence[RegionMeasures],
    of_run: tuple[Finding, ...],
    problems: Sequence[Problem],
    torch: str | None,
    devices: Sequence[str],
    no_cuda_because: str | None,
    sources: Sources,
) -> Result:
    totals = [reading.attribution.device_total_ns for reading in readings]
    measured = [total for total in totals if total is not None]
    outside = sum(reading.attribution.outside_ns or 0 for reading in readings)
    device = Device(devices[0], len(devices)) if devices else readings[0].trace.metadata.device
    if not measured and no_cuda_because is None:
        no_cuda_because = "no work of a GPU was recorded"
    files = sorted({region.file for region in regions if region.file is not None})
    return Result(
        run=run,
        traces=tuple(traces),
        device=device,
        torch=torch,
        device_total_ns=sum(measured) if measured else None,
        outside_regions_ns=outside if measured else None,
        regions_cpu_ns=regions_cpu_ns(windows),
        no_cuda_because=no_cuda_because if not measured else None,
        regions=tuple(regions),
        problems=tuple(problem for problem in problems if problem.code not in BY_CODE),
        findings=of_run,
        sources={file: sources.prints_of(file) for file in files},
    )


def _no_cuda_because(outcome: Outcome, problems: Sequence[Problem]) -> str | None:
    if outcome.device.no_cuda_because is not None:
        return outcome.device.no_cuda_because
    if any(problem.code.startswith(("cupti-", "adopted-without-cuda")) for problem in problems):
        return "see the notes"
    return "the script launched no work on the GPU while it was measured" if outcome.device.devices else None
