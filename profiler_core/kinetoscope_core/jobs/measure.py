"""From a run's folder, or from trace files, to a result: reads, attributes, places, summarises."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from kinetoscope_core import log_file
from kinetoscope_core.analysis.analysis import Reading, Summary, reading_of, summarised
from kinetoscope_core.analysis.findings import BY_CODE
from kinetoscope_core.analysis.log_match import (
    modules_by_key,
    recorded_calls,
    regions_not_entered,
)
from kinetoscope_core.analysis.ranks.facts import RankFacts, RankPlace
from kinetoscope_core.analysis.ranks.job import job_of
from kinetoscope_core.analysis.ranks.rank import facts_of_readings
from kinetoscope_core.analysis.region_log import RegionLog, read_region_log
from kinetoscope_core.analysis.statistics import RecordedCalls, RegionKey, regions_cpu_ns
from kinetoscope_core.analysis.unmeasured import start_up
from kinetoscope_core.errors import NothingMeasured, Problem
from kinetoscope_core.jobs.problems import nothing_measured
from kinetoscope_core.jobs.rank_problems import not_one_job
from kinetoscope_core.jobs.ranks import PlacedTraces, job_among, ranks_among, with_job
from kinetoscope_core.jobs.run_problems import MeasuredRun, problems_of
from kinetoscope_core.results.checks import Checked, checks
from kinetoscope_core.results.measures import BackwardWork, Device
from kinetoscope_core.results.result import ModulesAsked, Result, RunInfo, rows_of
from kinetoscope_core.run.outcome import Outcome
from kinetoscope_core.runner.request import RunRequest
from kinetoscope_core.source.regions import Region
from kinetoscope_core.source.regions.which_region import RegionsByName
from kinetoscope_core.source.snapshot import Sources
from kinetoscope_core.trace import Trace
from kinetoscope_core.trace.schema import OPERATOR


def measure_run(
    request: RunRequest, outcome: Outcome, folder: Path, started: str, script: Path | None, sources: Sources
) -> Result:
    """The result of a run from what its runner left in `folder`. `script` is the source whose regions are known, and
    was read into `sources` before the run: it may have been edited since.

    Raises `NothingMeasured` or `TraceError`.
    """
    known = [region.name for region in sources.regions_of(str(script))] if script else []
    log = read_region_log(folder)
    recordings = () if log is None else log.recordings
    if log is None or not recordings:
        raise nothing_measured(request, outcome, known, log, script)
    for failure in log.failures:
        log_file.note("Kineto said: %s", failure)
    readings, parts, only_ours, not_entered = _read(log, request, script, sources)
    found = summarised(readings, parts, sources, modules_by_key(log, sources), log.files)
    if not any(region.file for region in (*found.regions, *found.unmeasured)):
        contents = None if request.has_focus or log.regions else found.contents
        # Without steps a script that starts others may be there for that alone.
        has_others = contents is not None and (contents.phases or not log.has_children)
        if not (has_others and any(_holds_something(each.trace) for each in readings)):
            raise nothing_measured(request, outcome, known, log, script)
    run = MeasuredRun(request, outcome, script, sources, log, readings, parts, only_ours, not_entered, found)
    problems = problems_of(run)
    info = RunInfo(
        script=request.script,
        is_module=request.is_module,
        arguments=request.arguments,
        interpreter=outcome.interpreter,
        python=outcome.python,
        started=started,
        seconds=outcome.seconds,
        ending=outcome.ending,
        was_ended_early=outcome.was_ended_early,
        warmup=request.warmup,
        active=request.active,
        has_own_profiler=run.has_own_profiler,
        is_prepared=outcome.is_prepared,
        folder=str(Path(request.folder or ".").absolute()),
        environment=dict(request.environment),
        region=request.region,
        code=sources.digests_of(dict.fromkeys([*([str(script)] if script else []), *log.files])),
        env_file=request.env_file,
        is_command=request.is_command,
        modules=None if request.modules is None else ModulesAsked(request.modules.depth, request.modules.classes),
    )
    return _result(
        info,
        [each.trace for each in recordings],
        readings,
        parts,
        run.summary,
        problems,
        outcome.device.torch,
        outcome.device.devices,
        _no_cuda_because(outcome, problems),
        sources,
        [str(script)] if script else [],
    )


def _read(
    log: RegionLog, request: RunRequest, script: Path | None, sources: Sources
) -> tuple[list[Reading], list[RecordedCalls], list[RegionKey], list[Region]]:
    """A run's recordings, and their calls; which regions only ours has; which regions were not entered."""
    readings = [reading_of(each.trace, is_ours=not each.is_of_script) for each in log.recordings]
    not_entered = regions_not_entered(log, sources, script)
    unlogged = {str(script): RegionsByName(region for region in not_entered if region.is_exact)}
    parts, only_ours = recorded_calls(log, readings, sources, request.warmup, unlogged)
    return readings, parts, only_ours, not_entered


def facts_of_run(
    place: RankPlace, request: RunRequest, folder: Path, script: Path | None, sources: Sources
) -> RankFacts | None:
    """What a job needs of the rank whose runner left this in `folder`, `None` if that are no recordings.

    The process groups are those that its first recording names. Raises `TraceError`.
    """
    log = read_region_log(folder)
    if log is None or not log.recordings:
        return None
    readings, parts, *_ = _read(log, request, script, sources)
    place = place._replace(groups=readings[0].trace.metadata.groups)
    return facts_of_readings(place, readings, parts, modules_by_key(log, sources))


def measure_traces(paths: Sequence[Path], source_files: Sequence[Path]) -> Result:
    """The result of traces from elsewhere. A region is placed where its name stands in the sources, if
    that is certain (`places_of_names`). Traces of the ranks of one job are told apart, all others added up.

    Of traces without a region of the user's the result says what they hold. Raises `NothingMeasured` if that is
    nothing, or `TraceError`.
    """
    placed = PlacedTraces(source_files)
    by_rank, problems = ranks_among(paths)
    if len(by_rank) > 1:
        job = job_among(by_rank, placed)
        if job is not None:
            median = by_rank[job.median]
            return with_job(
                _of_readings(median, [reading_of(path) for path in median], placed), job, by_rank, placed.sources
            )
        problems = [not_one_job()]
    readings = [reading_of(path) for path in paths]
    result = _of_readings(paths, readings, placed)
    if by_rank and len(paths) == 1:
        return with_job(result, job_of([placed.facts_of(readings)]), by_rank, placed.sources)
    return replace(result, problems=(*result.problems, *problems))


def _of_readings(paths: Sequence[Path], readings: Sequence[Reading], placed: PlacedTraces) -> Result:
    sources = placed.sources
    parts = placed.recorded(readings)
    found = summarised(readings, parts, sources, files=placed.paths)
    problems = [problem for reading in readings for problem in reading.problems]
    if not found.regions and not found.unmeasured and not any(_holds_something(reading.trace) for reading in readings):
        names = ", ".join(str(path) for path in paths)
        why = " ".join(each.message for each in problems if each.code == "other-tool")
        what = f"{names} has no region, no operator and no GPU activity, so there is nothing to measure."
        raise NothingMeasured(f"{what} {why}".strip())
    return _result(None, paths, readings, parts, found, problems, None, (), None, sources, list(placed.files))


def _holds_something(trace: Trace) -> bool:
    return len(trace.device) > 0 or OPERATOR in trace.host.kind


def _result(
    run: RunInfo | None,
    traces: Sequence[Path],
    readings: Sequence[Reading],
    recorded: Sequence[RecordedCalls],
    found: Summary,
    problems: Sequence[Problem],
    torch: str | None,
    devices: Sequence[str],
    no_cuda_because: str | None,
    sources: Sources,
    known_files: Sequence[str],
) -> Result:
    totals = [reading.attribution.device_total_ns for reading in readings]
    measured = [total for total in totals if total is not None]
    outside = sum(reading.attribution.outside_ns or 0 for reading in readings)
    device = Device(devices[0], len(devices)) if devices else readings[0].trace.metadata.device
    if not measured and no_cuda_because is None:
        no_cuda_because = "no GPU work was recorded"
    own = start_up(recorded)
    own_ns = own.cuda_ns or 0 if own else 0
    entered: defaultdict[str, list[tuple[int, str]]] = defaultdict(list)
    for region in (*found.regions, *found.unmeasured):
        if region.file is not None and region.line is not None:
            entered[region.file].append((region.line, region.name))
    for region in found.regions:
        if region.module is not None and region.module.file is not None and region.module.line is not None:
            entered[region.module.file].append((region.module.line, region.name))
    result = Result(
        run=run,
        traces=tuple(traces),
        device=device,
        torch=torch,
        device_total_ns=sum(measured) - own_ns if measured else None,
        outside_regions_ns=outside if measured else None,
        regions_cpu_ns=regions_cpu_ns(recorded),
        no_cuda_because=no_cuda_because if not measured else None,
        regions=tuple(found.regions),
        problems=tuple(problem for problem in problems if problem.code not in BY_CODE),
        findings=found.of_run,
        groups=tuple(found.groups),
        unmeasured=tuple(found.unmeasured),
        start_up=own,
        contents=found.contents,
        backward=_backward([reading.attribution.backward_work for reading in readings]),
        sources={file: sources.prints_of(file, places) for file, places in sorted(entered.items())},
    )
    return replace(result, expectations=tuple(_checked(result, sources, [*known_files, *sorted(entered)])))


def _backward(works: Sequence[BackwardWork | None]) -> BackwardWork | None:
    known = [each for each in works if each is not None]
    if not known:
        return None
    return BackwardWork(sum(each.total_ns for each in known), sum(each.of_regions_ns for each in known))


def _checked(result: Result, sources: Sources, files: Sequence[str]) -> Iterator[Checked]:
    """The expectations in the files; where one region alone was asked for, of what was measured."""
    is_focused = result.run is not None and result.run.region is not None
    rows = [*rows_of(result), *result.unmeasured]
    for file in dict.fromkeys(files):
        source = sources.source_of(file)
        if source is not None:
            here = ((row, sources.entered_at(file, row.line or 0, row.name)) for row in rows if row.file == file)
            measured = ((region, row) for row, region in here if region is not None)
            for each in checks(source, file, measured, with_missing=not is_focused):
                yield from each.outcomes


def _no_cuda_because(outcome: Outcome, problems: Sequence[Problem]) -> str | None:
    if outcome.device.no_cuda_because is not None:
        return outcome.device.no_cuda_because
    if any(problem.code.startswith(("cupti-", "own-profiler-without-cuda")) for problem in problems):
        return "see the notes"
    return "the script launched no work on the GPU while it was measured" if outcome.device.devices else None
