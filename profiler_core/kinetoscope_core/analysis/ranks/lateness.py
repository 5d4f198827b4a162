"""Which rank the others wait for, step after step, and what it does longer than they: told only beyond chance."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import comb
from typing import Final

from kinetoscope_core.analysis.ranks.job import SLOW, Job
from kinetoscope_core.analysis.ranks.steps import OUTSIDE, Steps
from kinetoscope_core.analysis.statistics import RegionKey, median_of

CHANCE: Final = 1 / 16
"""At most so probable it may be that one of equal ranks is the last in so many steps by chance: of two ranks in five of
five steps, of eight in three of three.
"""

LEAST_SHARE: Final = 0.05
"""Of a step. In five steps of a balanced job on two H200s each rank is the last one at times."""


@dataclass(frozen=True, slots=True)
class Reason:
    """What a rank does longer than the others in a step: `longer_ns` is the median, `took_ns` and `others_ns` of which.

    `all_ns` is that over all regions. `region` is `OUTSIDE` for the time in no region.
    """

    region: RegionKey
    of_device: bool
    longer_ns: int
    took_ns: int
    others_ns: int
    all_ns: int


@dataclass(frozen=True, slots=True)
class Late:
    """The rank that the others wait for. `lost_ns` is what one of them loses a step: its exposed waiting for the late
    one, less what that one waits itself, and no more than what the late rank does longer.
    """

    rank: int
    steps: int
    steps_late: int
    collectives: int
    collectives_late: int
    lost_ns: int
    step_ns: int
    reason: Reason


def late_rank(job: Job, steps: Steps) -> Late | None:
    """The rank that is late beyond chance; `None` if there is none, or if it does nothing longer than the others.

    Where launching is the limit, a GPU that is merely a little ahead waits in each collective, and no step is longer
    for it: 17 ms of 30 in a balanced FSDP job on two H200s.
    """
    ranks = list(steps.of_rank)
    number = len(steps.of_rank[ranks[0]])
    net_ns = {rank: _net_ns(steps, rank, number) for rank in ranks}
    latest = [max(ranks, key=lambda rank, at=at: net_ns[rank][at]) for at in range(number)]
    rank = max(ranks, key=lambda rank: (latest.count(rank), sum(net_ns[rank])))
    of_rank = steps.of_rank[rank]
    collectives = sum(step.matched for step in of_rank)
    late = sum(step.late for step in of_rank)
    waited_ns = median_of(net_ns[rank]) if number else 0
    uncertain_ns = max((clock.uncertain_ns for clock in job.waiting.clocks.values()), default=0)
    if waited_ns <= uncertain_ns * collectives / max(number, 1):
        return None
    clearly = [at for at in range(number) if latest[at] == rank and 2 * net_ns[rank][at] >= waited_ns]
    if not is_beyond_chance(len(clearly), number, len(ranks)):
        return None
    reason = _reason(steps, rank, waited_ns)
    lost_ns = 0 if reason is None else min(waited_ns, max(reason.all_ns, reason.longer_ns))
    if reason is None or lost_ns < LEAST_SHARE * steps.length_ns:
        return None
    return Late(rank, number, len(clearly), collectives, late, lost_ns, steps.length_ns, reason)


def _net_ns(steps: Steps, rank: int, number: int) -> list[int]:
    others = [each for other, each in steps.of_rank.items() if other != rank]
    own = steps.of_rank[rank]
    return [
        median_of([each[at].lost_ns.get(rank, 0) for each in others]) - sum(own[at].lost_ns.values())
        for at in range(number)
    ]


def is_beyond_chance(times: int, of: int, ranks: int) -> bool:
    """Whether one of equal ranks would seldom be the extreme one so often."""
    one = 1 / ranks
    chance = ranks * sum(comb(of, each) * one**each * (1 - one) ** (of - each) for each in range(times, of + 1))
    return of > 0 and chance <= CHANCE


def _reason(steps: Steps, rank: int, waited_ns: int) -> Reason | None:
    """Its GPU's work or its host's, whichever is longer by more, if that is at least half of what the others wait."""
    found = [_longest(steps, rank, of_device=of_device) for of_device in (True, False)]
    enough = [each for each in found if each is not None and 2 * max(each.all_ns, each.longer_ns) >= waited_ns]
    return max(enough, key=lambda each: max(each.all_ns, each.longer_ns), default=None)


def _longest(steps: Steps, rank: int, *, of_device: bool) -> Reason | None:
    keys = _regions(steps, of_device=of_device)
    excess = {key: steps.excess_ns(rank, key, of_device=of_device) for key in keys}
    if not excess:
        return None
    all_ns = median_of([sum(each) for each in zip(*excess.values(), strict=True)])
    key = max(excess, key=lambda key: median_of(excess[key]))
    longer_ns = median_of(excess[key])
    clearly = sum(each > 0 and 2 * each >= longer_ns for each in excess[key])
    if not is_beyond_chance(clearly, len(excess[key]), len(steps.of_rank)):
        return None
    return _reason_at(steps, rank, key, longer_ns, all_ns, of_device=of_device)


def _reason_at(steps: Steps, rank: int, key: RegionKey, longer_ns: int, all_ns: int, *, of_device: bool) -> Reason:
    others = [steps.typical(other, key, of_device=of_device) for other in steps.of_rank if other != rank]
    took_ns = steps.typical(rank, key, of_device=of_device)
    return Reason(key, of_device, longer_ns, took_ns, median_of(others), all_ns)


def _regions(steps: Steps, *, of_device: bool) -> list[RegionKey]:
    times = [step.device_ns if of_device else step.host_ns for each in steps.of_rank.values() for step in each]
    return list(dict.fromkeys(key for each in times for key in each))


def uneven_regions(steps: Steps, *, of_device: bool) -> Iterator[tuple[int, Reason]]:
    """The regions that take longer on one rank than on the others, with that rank, in nearly all steps."""
    ranks = list(steps.of_rank)
    number = len(steps.of_rank[ranks[0]])
    waited_ns = {rank: sum(sum(step.lost_ns.values()) for step in each) for rank, each in steps.of_rank.items()}
    for key in _regions(steps, of_device=of_device):
        if key == OUTSIDE:
            continue
        rank = max(ranks, key=lambda rank, key=key: steps.typical(rank, key, of_device=of_device))
        if of_device and waited_ns[rank] > median_of([ns for other, ns in waited_ns.items() if other != rank]):
            continue  # waiting slows down what its GPU computes
        excess: Sequence[int] = steps.excess_ns(rank, key, of_device=of_device)
        longer_ns = median_of(excess) if number else 0
        reason = _reason_at(steps, rank, key, longer_ns, longer_ns, of_device=of_device)
        if longer_ns < LEAST_SHARE * steps.length_ns or reason.took_ns < SLOW * reason.others_ns:
            continue
        highest = [
            max(ranks, key=lambda each, at=at, key=key: _at(steps, each, at, key, of_device=of_device))
            for at in range(number)
        ]
        clearly = sum(each == rank and 2 * ns >= longer_ns for each, ns in zip(highest, excess, strict=True))
        if is_beyond_chance(clearly, number, len(ranks)):
            yield rank, reason


def _at(steps: Steps, rank: int, number: int, key: RegionKey, *, of_device: bool) -> int:
    step = steps.of_rank[rank][number]
    return (step.device_ns if of_device else step.host_ns).get(key, 0)
