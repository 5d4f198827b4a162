"""What a rank communicates, and how far ranks lie apart, as plain values (docs/measures.md, "Ranks")."""

from dataclasses import dataclass


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
class RankSpread:
    """How a region differs over the ranks. `rank` is whose numbers the region has, `ranks` how many have it."""

    rank: int
    ranks: int
    cpu_total_ns: OverRanks
    cuda_total_ns: OverRanks | None
