"""The ranks of a job: what each took, which of them stands for all, and how far they lie apart."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from kinetoscope_core.analysis.ranks.facts import RankFacts
from kinetoscope_core.analysis.ranks.waiting import Waiting, summed, waiting_of
from kinetoscope_core.analysis.statistics import RegionKey, median_of
from kinetoscope_core.results.communication import Collectives, OverRanks, RankSpread, SlowRank
from kinetoscope_core.results.measures import RegionMeasures
from kinetoscope_core.results.ranks import RankMeasures, RankRegion

SLOW: Final = 1.2
"""From this factor on a rank is slow: GPUs of one kind differ by a few percent."""

_ENOUGH_CALLS: Final = 3
_LEAST_NS: Final = 10_000


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

    @property
    def order(self) -> Sequence[int]:
        """The places of the ranks as their traces stand in the result: the median one first."""
        return [self.median, *(place for place in range(len(self.facts)) if place != self.median)]

    def first_trace(self, place: int) -> int:
        """Where in the result the traces of a rank begin, which has as many as each other rank."""
        return self.order.index(place) * len(self.facts[place].communications)


def job_of(facts: Iterable[RankFacts]) -> Job:
    """The job of these ranks, which have as many recordings each."""
    ranks = sorted(facts, key=lambda each: each.place.rank)
    waiting = waiting_of(ranks)
    rows = [_rows(each, waiting) for each in ranks]
    median = _median_rank(rows)
    return Job(ranks, waiting, rows, median, _spreads(ranks, waiting, rows, median))


def rank_measures(job: Job) -> tuple[RankMeasures, ...]:
    """Each rank, in the order of their numbers."""
    found: list[RankMeasures] = []
    for number, (facts, rows) in enumerate(zip(job.facts, job.rows, strict=True)):
        first = job.first_trace(number)
        place, clock = facts.place, job.waiting.clocks.get(facts.place.rank)
        found.append(
            RankMeasures(
                rank=place.rank,
                local_rank=place.local_rank,
                host=place.host,
                traces=tuple(range(first, first + len(facts.communications))),
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
    ranks: Sequence[RankFacts], waiting: Waiting, rows: Sequence[Mapping[RegionKey, RankRegion]], median: int
) -> dict[RegionKey, RankSpread]:
    if len(ranks) < 2:
        return {}
    found: dict[RegionKey, RankSpread] = {}
    sums = {facts.place.rank: summed(facts.communications, waiting.waiting_ns[facts.place.rank]) for facts in ranks}
    waited_ns = {rank: (each.waiting_ns or 0) if each else 0 for rank, each in sums.items()}
    for key in rows[median]:
        present = [(facts.place.rank, row[key]) for facts, row in zip(ranks, rows, strict=True) if key in row]
        cuda = [(row.cuda_total_ns.median, rank) for rank, row in present if row.cuda_total_ns is not None]
        found[key] = RankSpread(
            rank=ranks[median].place.rank,
            ranks=len(present),
            cpu_total_ns=_over([(row.cpu_total_ns.median, rank) for rank, row in present]),
            cuda_total_ns=_over(cuda) if cuda else None,
            slow=_slow([(rank, row) for rank, row in present], waited_ns) if len(present) > 1 else None,
        )
    return found


def _slow(present: Sequence[tuple[int, RankRegion]], waited_ns: Mapping[int, int]) -> SlowRank | None:
    """The rank that stands out by its CPU, all of whose calls are longer than is usual elsewhere, or else by its GPU.

    A GPU that waits in a collective computes more slowly meanwhile: a rank that waits more than others is the victim.
    """
    found: list[SlowRank] = []
    rank, row = max(present, key=lambda each: each[1].cpu_active_ns.median)
    others_ns = median_of([each.cpu_active_ns.median for other, each in present if other != rank])
    if row.cpu_active_ns.min >= SLOW * others_ns and row.measured >= _ENOUGH_CALLS:
        found.append(SlowRank(rank, "cpu", row.cpu_active_ns.median, others_ns))
    computing = {rank: ns for rank, row in present if (ns := row.cuda_computing_ns) is not None}
    if len(computing) > 1:
        rank = max(computing, key=computing.__getitem__)
        others_ns = median_of([ns for other, ns in computing.items() if other != rank])
        is_victim = waited_ns[rank] > median_of([ns for other, ns in waited_ns.items() if other != rank])
        if computing[rank] >= SLOW * others_ns and not is_victim:
            found.append(SlowRank(rank, "gpu", computing[rank], others_ns))
    found = [each for each in found if each.took_ns - each.others_ns >= _LEAST_NS]
    return max(found, key=lambda each: each.took_ns - each.others_ns, default=None)


def _over(values: Sequence[tuple[int, int]]) -> OverRanks:
    (least, least_rank), (most, most_rank) = min(values), max(values)
    return OverRanks(median_of([value for value, _ in values]), least, most, least_rank, most_rank)
