"""All that is said of recordings: regions with what they are made of, series, findings, and what else they hold."""

import time
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from types import MappingProxyType

from kinetoscope_core import log_file
from kinetoscope_core.analysis.attribution import Attribution, attribute
from kinetoscope_core.analysis.bounds import limits_of
from kinetoscope_core.analysis.breakdown import breakdowns
from kinetoscope_core.analysis.contents import contents_of
from kinetoscope_core.analysis.findings import findings
from kinetoscope_core.analysis.groups import Grouping, grouping_of, regrouped
from kinetoscope_core.analysis.recording import Recording
from kinetoscope_core.analysis.region_tree import parents_of
from kinetoscope_core.analysis.statistics import Calls, RecordedCalls, RegionKey, summarise
from kinetoscope_core.analysis.timeline import timelines
from kinetoscope_core.analysis.unmeasured import unmeasured
from kinetoscope_core.errors import Problem
from kinetoscope_core.results.contents import Contents
from kinetoscope_core.results.measures import Finding, ModuleFacts, RegionMeasures, RegionName, Unmeasured
from kinetoscope_core.results.of_torch import is_of_torch
from kinetoscope_core.source.snapshot import Sources
from kinetoscope_core.trace import Trace, read_trace


@dataclass(frozen=True, slots=True)
class Reading:
    """One trace, read and attributed, with its part of the summary's input."""

    trace: Trace
    attribution: Attribution
    problems: Sequence[Problem]

    @property
    def base_time_ns(self) -> int:
        """What makes a time of the trace one since the epoch, 0 where that is not known."""
        return self.trace.metadata.base_time_ns or 0


def reading_of(path: Path, *, is_ours: bool = False) -> Reading:
    """Reads and attributes a trace, which our profiler made or another one. Raises `TraceError`."""
    began = time.monotonic()
    trace, problems = read_trace(path)
    read = time.monotonic()
    attribution = attribute(trace, is_ours=is_ours)
    if log_file.is_on():
        took_s = (read - began, time.monotonic() - read)
        log_file.note("%s, %d bytes: read in %.3f s, attributed in %.3f s", path, path.stat().st_size, *took_s)
    return Reading(trace, attribution, [*problems, *attribution.problems])


@dataclass(frozen=True, slots=True)
class Summary:
    """The regions with all that is known of them, the series that they are part of, and what is said of the run."""

    regions: Sequence[RegionMeasures]
    groups: Sequence[RegionMeasures]
    unmeasured: Sequence[Unmeasured]
    of_run: tuple[Finding, ...]
    contents: Contents | None


def summarised(
    readings: Sequence[Reading],
    recorded: Sequence[RecordedCalls],
    sources: Sources,
    modules: Mapping[RegionKey, ModuleFacts] = MappingProxyType({}),
    files: Collection[str] = (),
) -> Summary:
    """All that is said of the recordings. `modules` are the regions that are a module's, `files` the user's, as far as
    they are known.
    """
    grouping = grouping_of(recorded, modules)
    recorded = regrouped(recorded, grouping.merged, grouping.layers)
    recordings = _recordings(readings, recorded)
    calls = Calls(*recorded)
    regions, of_run = _in_detail(recordings, calls, sources, grouping, has_modules=bool(modules))
    groups: list[RegionMeasures] = []
    of_series = regrouped(recorded, grouping.series, grouping.layers)
    if grouping.series:
        # What is true of all steps is said once: of the run, with each series as one region.
        rows, of_run = _in_detail(
            _recordings(readings, of_series), Calls(*of_series), sources, grouping, has_modules=bool(modules)
        )
        wanted = set(grouping.series.values())
        slowest = _slowest(regions)
        groups = [
            replace(each, slowest=slowest[key] if key in grouping.layers else None)
            for each in rows
            if (key := RegionKey(each.name, each.file, each.line)) in wanted
        ]
    has_users = any(not is_of_torch(key.name, key.file) for key in calls.seen)
    parents = {key: RegionName(each.name, each.file, each.line) for key, each in parents_of(of_series).items()}

    def parent_of(region: RegionMeasures | Unmeasured) -> RegionName | None:
        key = RegionKey(region.name, region.file, region.line)
        return parents.get(grouping.series.get(key, key))

    of_rows = {row: modules[key] for key, row in {**grouping.merged, **grouping.series}.items() if key in modules}

    def known(region: RegionMeasures) -> RegionMeasures:
        key = RegionKey(region.name, region.file, region.line)
        module = modules.get(key) or of_rows.get(key)
        origin = "torch" if is_of_torch(key.name, key.file) else "user" if module is None else "module"
        return replace(region, parent=parent_of(region), module=module, origin=origin)

    return Summary(
        regions=[*map(known, regions)],
        groups=[*map(known, groups)],
        unmeasured=[replace(each, parent=parent_of(each)) for each in unmeasured(calls)],
        of_run=of_run,
        contents=None if has_users else contents_of(recordings, files),
    )


def _slowest(regions: Sequence[RegionMeasures]) -> dict[RegionKey, str]:
    """For each series the name with the largest median: of CUDA total, else of CPU total."""
    found: dict[RegionKey, RegionMeasures] = {}
    for each in regions:
        if each.series is not None:
            series = RegionKey(each.series, each.file, each.line)
            other = found.get(series)
            if other is None or _median_ns(each) > _median_ns(other):
                found[series] = each
    return {series: each.name for series, each in found.items()}


def _median_ns(region: RegionMeasures) -> tuple[int, int]:
    return (region.cuda_total_ns.median if region.cuda_total_ns else 0, region.cpu_total_ns.median)


def _recordings(readings: Sequence[Reading], recorded: Sequence[RecordedCalls]) -> list[Recording]:
    return [Recording(each.trace, each.attribution, part) for each, part in zip(readings, recorded, strict=True)]


def _in_detail(
    recordings: Sequence[Recording], calls: Calls, sources: Sources, grouping: Grouping, *, has_modules: bool
) -> tuple[list[RegionMeasures], tuple[Finding, ...]]:
    """The regions with what they are made of and what is found in them, and the findings of the run as a whole."""
    parts, medians = breakdowns(recordings, calls), timelines(recordings, calls)
    limits = limits_of(recordings, calls)
    measures = [
        replace(each, bound=limits[RegionKey(each.name, each.file, each.line)].bound)
        for each in summarise(calls, parts)
    ]
    found = findings(recordings, calls, measures, limits, has_modules=has_modules)
    regions: list[RegionMeasures] = []
    for each in measures:
        key = RegionKey(each.name, each.file, each.line)
        ignored = sources.ignored_at(each.file, each.line, each.name) if each.file and each.line else ()
        here = tuple(replace(one, is_suppressed=one.code in ignored) for one in found.of_regions.get(key, ()))
        series = grouping.series.get(key)
        regions.append(
            replace(
                each,
                timeline=medians.get(key),
                findings=here,
                names=grouping.names.get(key, 1),
                series=None if series is None else series.name,
            )
        )
    first = next((each.file for each in regions if each.file), None)
    ignored = sources.ignored_on_top_of(first) if first else ()
    return regions, tuple(replace(one, is_suppressed=one.code in ignored) for one in found.of_run)
