"""Traces of the ranks of one job: which they are, what is needed of each, and the result of all."""

from collections import defaultdict
from collections.abc import Container, Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final

from kinetoscope_core.analysis.analysis import Reading, reading_of
from kinetoscope_core.analysis.findings.job.finding import job_findings
from kinetoscope_core.analysis.log_match import keys_of_names
from kinetoscope_core.analysis.ranks.facts import RankFacts, RankPlace
from kinetoscope_core.analysis.ranks.job import Job, job_of, rank_measures, with_ranks
from kinetoscope_core.analysis.ranks.rank import facts_of_readings
from kinetoscope_core.analysis.statistics import RecordedCalls, RegionKey
from kinetoscope_core.errors import Problem
from kinetoscope_core.jobs.rank_problems import not_one_job, problems_of_job
from kinetoscope_core.jobs.rank_processes import facts_of_ranks
from kinetoscope_core.results.measures import Finding, RegionMeasures
from kinetoscope_core.results.result import Result
from kinetoscope_core.source.regions.which_region import RegionsByName
from kinetoscope_core.source.snapshot import Sources
from kinetoscope_core.trace import Metadata, peeked

_MOST_APART_NS: Final = 5_000_000_000
"""Ranks of one job are recorded at the same time, but the clocks of hosts may differ."""


class PlacedTraces:
    """Traces from elsewhere, and where in the sources their regions stand: they tell the names alone."""

    def __init__(self, files: Sequence[Path]) -> None:
        self.sources = Sources()
        self.paths = [str(file.resolve()) for file in files]
        self.files = {str(file): RegionsByName(self.sources.regions_of(str(file))) for file in files}

    def recorded(self, readings: Sequence[Reading]) -> list[RecordedCalls]:
        """The calls of the traces, each with its region."""
        names = dict.fromkeys(call.name for reading in readings for call in reading.attribution.calls)
        keys = keys_of_names(names, self.files)
        return [
            RecordedCalls(calls, [keys[call.name] for call in calls], base_time_ns=reading.base_time_ns)
            for reading in readings
            for calls in [reading.attribution.calls]
        ]

    def facts_at(self, paths: Sequence[Path]) -> RankFacts:
        """The same of the traces at these paths. Raises `TraceError`."""
        return self.facts_of([reading_of(path) for path in paths])

    def facts_of(self, readings: Sequence[Reading]) -> RankFacts:
        """What a job needs of the rank whose traces these are."""
        return facts_of_readings(_place_of(readings[0].trace.metadata), readings, self.recorded(readings))


def _place_of(metadata: Metadata) -> RankPlace:
    return RankPlace(metadata.rank or 0, metadata.world_size, None, metadata.host, metadata.groups)


def ranks_among(paths: Sequence[Path]) -> tuple[list[list[Path]], list[Problem]]:
    """The traces of each rank, in the order of their numbers, if all are of ranks of one job, else none; and what is to
    be said if they are of ranks and not of one job.
    """
    by_rank: defaultdict[int, list[Path]] = defaultdict(list)
    jobs: set[tuple[int, tuple[int, ...] | None]] = set()
    for path in paths:
        metadata = peeked(path)
        if metadata is None or metadata.rank is None or (metadata.world_size or 0) < 2:
            return [], []
        by_rank[metadata.rank].append(path)
        jobs.add((metadata.world_size or 0, metadata.groups.get("0")))
    if len(jobs) > 1 or len(set(map(len, by_rank.values()))) > 1:
        return [], [not_one_job()]
    return [each for _, each in sorted(by_rank.items())], []


def job_among(by_rank: Sequence[Sequence[Path]], placed: PlacedTraces) -> Job | None:
    """The job whose ranks have these traces; `None` if they are not of one time. Raises `TraceError`."""
    facts = list(facts_of_ranks(by_rank, list(placed.files), placed.facts_at))
    for spans in zip(*(each.spans for each in facts), strict=True):
        if max(start for start, _ in spans) > min(end for _, end in spans) + _MOST_APART_NS:
            return None
    return job_of(facts)


def with_job(result: Result, job: Job, by_rank: Sequence[Sequence[Path]], sources: Sources) -> Result:
    """The result of the median rank with what is known of all."""
    found = job_findings(job)

    def completed(region: RegionMeasures) -> RegionMeasures:
        key = RegionKey(region.name, region.file, region.line)
        ignored = sources.ignored_at(key.file, key.line, key.name) if key.file and key.line else ()
        return replace(
            with_ranks(region, job), findings=(*_marked(found.of_regions.get(key, ()), ignored), *region.findings)
        )

    first = next((each.file for each in result.regions if each.file), None)
    ignored = sources.ignored_on_top_of(first) if first else ()
    return replace(
        result,
        traces=tuple(path for place in job.order for path in by_rank[place]),
        regions=tuple(map(completed, result.regions)),
        groups=tuple(map(completed, result.groups)),
        findings=(*_marked(found.of_run, ignored), *result.findings),
        ranks=rank_measures(job),
        problems=(*result.problems, *problems_of_job(job)),
    )


def _marked(findings: Iterable[Finding], ignored: Container[str]) -> Iterator[Finding]:
    return (replace(each, is_suppressed=each.code in ignored) for each in findings)
