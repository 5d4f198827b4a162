"""The result of a command: that of one of its processes, with what is known of the others, which are never added up."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from kinetoscope_core import log_file
from kinetoscope_core.analysis.ranks.facts import RankFacts, RankPlace
from kinetoscope_core.analysis.ranks.job import Job, job_of
from kinetoscope_core.analysis.region_log import read_region_log
from kinetoscope_core.errors import KinetoscopeError, NothingMeasured, Problem, RunError, TraceError
from kinetoscope_core.jobs.measure import facts_of_run, measure_run
from kinetoscope_core.jobs.problems import ending_error
from kinetoscope_core.jobs.ranks import with_job
from kinetoscope_core.results.result import ProcessInfo, Result
from kinetoscope_core.run.outcome import Outcome, ProcessOutcome
from kinetoscope_core.runner.request import RunRequest
from kinetoscope_core.source.snapshot import Sources
from kinetoscope_core.wording import WHAT_TO_ADD

_NOT_REACHED = (
    "No process of the command entered a region. Pythons that are started with -I, -E or -S, or with an environment of"
    " their own (env -i, containers, another machine), are not reached; put kinetoscope profile into what starts those."
)


def measure_command(
    request: RunRequest, outcome: Outcome, _folder: Path, started: str, script: Path | None, sources: Sources
) -> Result:
    """The numbers of the median rank, with what is known of all of them; where the processes are no ranks of one job,
    those of the one with most calls, and a problem says which.

    Raises `NothingMeasured`, `RunError` or `TraceError`.
    """
    processes = outcome.processes or ()
    measured = [each for each in processes if _calls(each)]
    ranks = [each for each in measured if each.rank is not None]
    job = _job_of(ranks, request, script, sources)
    first = [] if job is None else [_of_rank(ranks, job.facts[job.median].place.rank)]
    failure: KinetoscopeError | None = None
    for shown in first + (ranks or sorted(measured, key=_calls, reverse=True)):
        its_outcome = replace(
            outcome,
            interpreter=shown.interpreter,
            python=shown.python,
            device=shown.device,
            ended_for=shown.ended_for if outcome.was_ended_early else None,
            problems=[*shown.problems, *outcome.problems],
        )
        try:
            result = measure_run(request, its_outcome, shown.folder, started, script, sources)
        except KinetoscopeError as error:  # it may have been cut off before its first call was over
            failure = failure or error
            continue
        is_of_job = job is not None and shown in first
        if job is not None and is_of_job:
            of_job = [_of_rank(ranks, facts.place.rank) for facts in job.facts]
            result = with_job(result, job, [_traces(each) for each in of_job], sources)
        infos = tuple(_info(each, is_shown=each is shown) for each in measured)
        run = None if result.run is None else replace(result.run, processes=infos)
        about = [] if is_of_job else _about_several(measured, shown)
        return replace(result, run=run, problems=(*about, *_about_lost(processes, outcome), *result.problems))
    raise failure or _nothing(outcome, processes)


def _job_of(ranks: Sequence[ProcessOutcome], request: RunRequest, script: Path | None, sources: Sources) -> Job | None:
    """The job of these ranks, as far as they are ranks of one, and what they recorded can be read."""
    if len({each.rank for each in ranks}) < len(ranks) or len({each.world_size for each in ranks}) != 1:
        return None
    found: list[RankFacts] = []
    for each in ranks:
        place = RankPlace(each.rank or 0, each.world_size, each.local_rank, each.host, {})
        try:
            facts = facts_of_run(place, request, each.folder, script, sources)
        except TraceError as error:  # it may have been cut off while saving; its end is said
            log_file.note("%s: %s", each.name, error)
            continue
        if facts is not None and facts.rows:
            found.append(facts)
    is_like = len({len(facts.communications) for facts in found}) == 1
    return job_of(found) if is_like and ranks[0].world_size > 1 else None


def _of_rank(ranks: Sequence[ProcessOutcome], rank: int) -> ProcessOutcome:
    return next(each for each in ranks if each.rank == rank)


def _traces(process: ProcessOutcome) -> list[Path]:
    return sorted(process.folder.glob("trace-*.json"))


def moved(result: Result, before: Path, now: Path) -> Result:
    """The result, once the run's folder lies elsewhere."""

    def there(trace: Path | str) -> Path:
        return now / Path(trace).relative_to(before)

    run = result.run
    if run is not None:
        of_all = (replace(each, traces=tuple(str(there(one)) for one in each.traces)) for each in run.processes)
        run = replace(run, processes=tuple(of_all))
    return replace(result, run=run, traces=tuple(map(there, result.traces)))


def _calls(process: ProcessOutcome) -> int:
    log = read_region_log(process.folder)
    return 0 if log is None else sum(max(len(each.entries), 1) for each in log.recordings)


def _info(process: ProcessOutcome, *, is_shown: bool) -> ProcessInfo:
    traces = tuple(map(str, _traces(process)))
    world = None if process.rank is None else process.world_size
    return ProcessInfo(
        process.pid, process.host, process.rank, process.local_rank, world, process.interpreter, traces, is_shown
    )


def _about_several(measured: Sequence[ProcessOutcome], shown: ProcessOutcome) -> list[Problem]:
    if len(measured) == 1:
        return []
    what = "ranks" if all(each.rank is not None for each in measured) else "processes"
    text = f"{len(measured)} {what} were measured. The numbers are those of {shown.name} alone; all traces are kept."
    return [Problem("several-processes", text, {"processes": len(measured)})]


def _about_lost(processes: Sequence[ProcessOutcome], outcome: Outcome) -> list[Problem]:
    if outcome.ending in ("cancelled", "time-limit") or outcome.was_ended_early:
        return []
    lost = [each for each in processes if each.is_lost]
    found: list[Problem] = []
    for each in lost:
        kept = "What was recorded there is lost." if each.while_recording else "What it had measured is kept."
        text = f"{each.name.capitalize()} ended without a word, as when it is killed. {kept}"
        found.append(Problem("process-lost", text, {"process": each.pid}))
    return found


def _nothing(outcome: Outcome, processes: Sequence[ProcessOutcome]) -> KinetoscopeError:
    lost = "".join(f" {each.message}" for each in _about_lost(processes, outcome))
    error = ending_error(outcome)
    if error is not None:
        return type(error)(replace(error.problem, message=f"{error}{lost}"))
    problems = [*outcome.problems, *(one for each in processes for one in each.problems)]
    if problems:
        return RunError(" ".join(each.message for each in problems) + lost)
    return NothingMeasured(f"{lost.strip() or _NOT_REACHED} {WHAT_TO_ADD}")
