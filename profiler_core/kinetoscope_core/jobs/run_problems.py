"""What the reader of a run's numbers must know, in the order in which it is said. The texts stand in problems.py."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from kinetoscope_core.analysis.analysis import Reading, Summary
from kinetoscope_core.analysis.log_match import regions_not_recorded, regions_with_few_calls
from kinetoscope_core.analysis.region_log import RegionLog
from kinetoscope_core.analysis.statistics import RecordedCalls, RegionKey
from kinetoscope_core.errors import Problem
from kinetoscope_core.jobs.problems import (
    changed_while_running,
    cupti_problems,
    ending_problem,
    modules_left_out,
    modules_lost_sight,
    no_region_entered,
    not_ended,
    not_reached,
    outside_while_stopping,
    own_profiler_was_silent,
    own_profiler_without_cuda,
    recorded_by_us,
    saved_when_ended,
)
from kinetoscope_core.run.outcome import Outcome
from kinetoscope_core.runner.request import ModuleChoice, RunRequest
from kinetoscope_core.source.regions import Region
from kinetoscope_core.source.save_points import saves_when_ended
from kinetoscope_core.source.snapshot import Sources

_SHOWN_AT_THE_REGION = ("profiler-overhead", "unfinished-region")
"""Of a run these are no news: a recording starts with the profiler's own start-up and stops when enough is measured.
What of it lies in a measured region is shown there."""


@dataclass(frozen=True, slots=True)
class MeasuredRun:
    """A run with all that is known of it: what was asked for, how it ended, its log, and what its recordings say.

    `only_ours` are regions that our recording has and the script's own do not, `not_entered` those of the source that
    the log has no call of.
    """

    request: RunRequest
    outcome: Outcome
    script: Path | None
    sources: Sources
    log: RegionLog
    readings: Sequence[Reading]
    parts: Sequence[RecordedCalls]
    only_ours: Sequence[RegionKey]
    not_entered: Sequence[Region]
    found: Summary

    @property
    def has_own_profiler(self) -> bool:
        """Whether the script's own profiler was used."""
        return any(each.is_of_script for each in self.log.recordings)

    @property
    def outside_while_stopping_ns(self) -> int:
        """Device work of threads that went on without their regions while our profiler was stopped, in ns: at most what
        belongs to no region, and where modules are measured to no backward pass of theirs.
        """
        if not self.log.was_quietened or self.log.recordings[0].is_of_script:
            return 0
        of_each = [each.attribution for each in self.readings]
        of_modules = sum(each.backward_outside_ns for each in of_each) if self.request.modules is not None else 0
        return sum(each.outside_ns or 0 for each in of_each) - of_modules

    @property
    def summary(self) -> Summary:
        """What was found, without what a problem says with its cause."""
        if not self.outside_while_stopping_ns:
            return self.found
        of_run = tuple(each for each in self.found.of_run if each.code != "outside-regions")
        return replace(self.found, of_run=of_run)


def problems_of(run: MeasuredRun) -> list[Problem]:
    """All problems of a measured run."""
    ending = ending_problem(run.outcome)
    return [
        *([] if ending is None else [ending]),
        *([] if run.found.contents is None else [no_region_entered()]),
        *_of_recordings(run),
        *_of_regions(run),
        *run.outcome.problems,
        *_of_sources(run),
        *_of_own_profiler(run),
    ]


def _of_recordings(run: MeasuredRun) -> Iterator[Problem]:
    for reading in run.readings:
        yield from (each for each in reading.problems if each.code not in _SHOWN_AT_THE_REGION)
    yield from (not_ended(each) for each in run.found.unmeasured if each.file and each.at_least_ns is not None)
    yield from cupti_problems(run.log.failures)
    if run.outside_while_stopping_ns:
        yield outside_while_stopping(run.outside_while_stopping_ns)


def _of_regions(run: MeasuredRun) -> Iterator[Problem]:
    seen = run.log.modules
    if seen is not None and seen.left_out and run.request.modules == ModuleChoice():
        yield modules_left_out(seen.left_out, seen.depth)
    if seen is not None and seen.lost_sight:
        yield modules_lost_sight()
    if run.request.has_focus:
        return
    recorded = {key for part in run.parts for key in part.keys}
    yield from regions_not_recorded(run.log, recorded, run.sources, run.outcome.device.torch, run.script)
    if run.script is not None and _has_whole_log(run.outcome):
        script = str(run.script)
        measured = {(region.file, region.line) for region in (*run.found.regions, *run.found.unmeasured)}
        missing = [region for region in run.not_entered if (script, region.line) not in measured]
        how = run.outcome, run.request.budget_s
        yield from (not_reached(script, region.line, region.name, *how) for region in missing)
    if run.outcome.was_ended_early and not run.has_own_profiler:
        yield from regions_with_few_calls([*run.found.groups, *run.found.regions], run.request.active)


def _has_whole_log(outcome: Outcome) -> bool:
    """Whether all that was entered is known: not where the process ended without its last words."""
    return outcome.ending in ("ended", "failed", "cancelled", "time-limit") or outcome.script_code is not None


def _of_sources(run: MeasuredRun) -> Iterator[Problem]:
    if run.outcome.was_ended_early and run.script is not None:
        script = str(run.script)
        yield from (saved_when_ended(script, *each) for each in saves_when_ended(run.sources.text_of(script)))
    yield from map(changed_while_running, sorted(run.sources.changed))


def _of_own_profiler(run: MeasuredRun) -> Iterator[Problem]:
    has_cuda = any(each.records_cuda for each in run.log.recordings)
    if run.has_own_profiler and run.outcome.device.devices and not has_cuda:
        yield own_profiler_without_cuda()
    if run.only_ours:
        first = run.only_ours[0]
        yield recorded_by_us(first.file, first.line, [key.name for key in run.only_ours])
    if run.log.was_aside and not run.has_own_profiler:
        yield own_profiler_was_silent()
