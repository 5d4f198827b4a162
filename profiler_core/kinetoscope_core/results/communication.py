"""What a rank communicates, and how far ranks lie apart, as plain values (docs/measures.md, "Ranks")."""

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True)
class Collectives:
    """Collectives and point-to-point transfers of one rank, added up.

    `waiting_ns` is the time until the last rank had started, `transfer_ns` the rest; both are of the `matched` ones,
    and `None` if there is none: then no other rank's recording has the same collective. `unmatched_ns` is the time of
    the others, so that the three add up to `total_ns`. In `exposed_ns` no computing kernel of the rank ran, and
    `exposed_waiting_ns` is the part of it that is waiting.
    """

    count: int
    matched: int
    total_ns: int
    waiting_ns: int | None
    transfer_ns: int | None
    unmatched_ns: int
    exposed_ns: int
    exposed_waiting_ns: int | None


@dataclass(frozen=True, slots=True)
class OverRanks:
    """A measure of a region over the ranks: its median call on each. `least_rank` and `most_rank` have the extremes."""

    median: int
    least: int
    most: int
    least_rank: int
    most_rank: int


@dataclass(frozen=True, slots=True)
class SlowRank:
    """A rank on which a region itself takes much longer: its CPU without waiting for the GPU, or what its GPU computes.

    `took_ns` is what a call takes there, `others_ns` the median over the other ranks.
    """

    rank: int
    of: Literal["cpu", "gpu"]
    took_ns: int
    others_ns: int


@dataclass(frozen=True, slots=True)
class RankSpread:
    """How a region differs over the ranks. `rank` is whose numbers the region has, `ranks` how many have it.

    The times are over the median calls, and hold what a rank waits for others; `slow` is `None` where none is slow.
    """

    rank: int
    ranks: int
    cpu_total_ns: OverRanks
    cuda_total_ns: OverRanks | None
    slow: SlowRank | None = None
