"""The ranks of a job: what each took, which of them stands for all, and how far they lie apart."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType

from kinetoscope_core.analysis.analysis import Reading
from kinetoscope_core.analysis.groups import grouping_of, regrouped
from kinetoscope_core.analysis.ranks.facts import RankFacts, RankPlace, facts_of_rank
from kinetoscope_core.analysis.ranks.waiting import Waiting, summed, waiting_of
from kinetoscope_core.analysis.recording import Recording
from kinetoscope_core.analysis.statistics import Calls, RecordedCalls, RegionKey, median_of
from kinetoscope_core.results.communication import Collectives, OverRanks, RankSpread
from kinetoscope_core.results.measures import ModuleFacts, RegionMeasures
from kinetoscope_core.results.ranks import RankMeasures, RankRegion


@dataclass(frozen=True, slots=True)
class Job:
    """All ranks that were recorded, in the order of their numbers, with what they waited. `median` is the place of the
    rank whose numbers stand for all.
    """

    facts: Sequence[RankFacts]
    waiting: Waiting
    rows: Sequence[Mapping[RegionKey, RankRegion]]
    median: int
    spreads: Mapping[RegionKey, RankSpread]


def facts_of_readings(
    place: RankPlace,
    readings: Sequence[Reading],
    recorded: Sequence[RecordedCalls],
    modules: Mapping[RegionKey, ModuleFacts] = MappingProxyType({}),
) -> RankFacts:
    """What a job needs of one rank, whose recordings these are; `recorded` and `modules` are as in `summarised`."""
    grouping = grouping_of(recorded, modules)
    told = [regrouped(recorded, grouping.merged, grouping.layers)]
    recordings = [Recording(each.trace, each.attribution, part) for each, part in zip(readings, told[0], strict=True)]
    if grouping.series:
        told.append(regrouped(told[0], grouping.series, grouping.layers))
    facts = facts_of_rank(place, recordings, *(Calls(*parts) for parts in told))
    facts.problems += [problem for each in readings for problem in each.problems]
    return facts


def job_of(facts: Iterable[RankFacts]) -> Job:
    """The job of these ranks, which have as many recordings each."""
    ranks = sorted(facts, key=lambda each: each.place.rank)
    waiting = waiting_of(ranks)
    rows = [_rows(each, waiting) for each in ranks]
    median = _median_rank(rows)
    return Job(ranks, waiting, rows, median, _spreads(ranks, rows, median))


def rank_measures(job: Job, traces: Sequence[Sequence[int]]) -> tuple[RankMeasures, ...]:
    """Each rank; `traces` are the places of its recordings in the result."""
    found: list[RankMeasures] = []
    for facts, rows, places in zip(job.facts, job.rows, traces, strict=True):
        place, clock = facts.place, job.waiting.clocks.get(facts.place.rank)
        found.append(
            RankMeasures(
                rank=place.rank,
                local_rank=place.local_rank,
                host=place.host,
                traces=tuple(places),
                device_total_ns=facts.device_total_ns,
                regions=tuple(rows.values()),
                collectives=summed(facts.communications, job.waiting.waiting_ns[place.rank]),
                clock_offset_ns=None if clock is None else clock.ahead_ns,
                clock_uncertain_ns=None if clock is None else clock.uncertain_ns,
            )
        )
    return tuple(found)


def with_ranks(region: RegionMeasures, job: Job) -> RegionMeasures:
    """A region of the median rank, with what it communicates and how it differs over the ranks."""
    key = RegionKey(region.name, region.file, region.line)
    row = job.rows[job.median].get(key)
    return replace(region, communication=row and row.communication, over_ranks=job.spreads.get(key))


def _rows(facts: RankFacts, waiting: Waiting) -> dict[RegionKey, RankRegion]:
    waiting_ns = waiting.waiting_ns[facts.place.rank]
    inside: defaultdict[RegionKey, list[tuple[int, int]]] = defaultdict(list)
    for number, each in enumerate(facts.communications):
        for place, within in enumerate(each.within):
            for key in each.regions[within]:
                inside[key].append((number, place))
    sums: dict[RegionKey, Collectives | None] = {
        key: summed(facts.communications, waiting_ns, iter(places)) for key, places in inside.items()
    }
    return {key: replace(row, communication=sums.get(key)) for key, row in facts.rows.items()}


def _median_rank(rows: Sequence[Mapping[RegionKey, RankRegion]]) -> int:
    """The rank whose regions are nearest to the medians over the ranks, all taken together: of self times, so that no
    time counts twice.
    """
    apart_ns = [0] * len(rows)
    for key in dict.fromkeys(key for of_rank in rows for key in of_rank):
        present = [(place, of_rank[key]) for place, of_rank in enumerate(rows) if key in of_rank]
        for values in (
            [(place, row.cpu_self_ns.median * row.measured) for place, row in present],
            [(place, row.cuda_self_ns.median * row.measured) for place, row in present if row.cuda_self_ns],
        ):
            middle = median_of([value for _, value in values]) if values else 0
            for place, value in values:
                apart_ns[place] += abs(value - middle)
    most = max(map(len, rows))
    return min(range(len(rows)), key=lambda place: (len(rows[place]) < most, apart_ns[place], place))


def _spreads(
    ranks: Sequence[RankFacts], rows: Sequence[Mapping[RegionKey, RankRegion]], median: int
) -> dict[RegionKey, RankSpread]:
    if len(ranks) < 2:
        return {}
    found: dict[RegionKey, RankSpread] = {}
    for key in rows[median]:
        present = [(facts.place.rank, row[key]) for facts, row in zip(ranks, rows, strict=True) if key in row]
        cuda = [(row.cuda_total_ns.median, rank) for rank, row in present if row.cuda_total_ns is not None]
        found[key] = RankSpread(
            rank=ranks[median].place.rank,
            ranks=len(present),
            cpu_total_ns=_over([(row.cpu_total_ns.median, rank) for rank, row in present]),
            cuda_total_ns=_over(cuda) if cuda else None,
        )
    return found


def _over(values: Sequence[tuple[int, int]]) -> OverRanks:
    (least, least_rank), (most, most_rank) = min(values), max(values)
    return OverRanks(median_of([value for value, _ in values]), least, most, least_rank, most_rank)
