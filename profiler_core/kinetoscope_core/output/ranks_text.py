"""How ranks differ, in words: the same in a terminal and in an editor."""

from collections.abc import Sequence
from typing import Final

from kinetoscope_core.results.measures import RegionMeasures
from kinetoscope_core.results.ranks import RankMeasures, RankRegion
from kinetoscope_core.results.result import Result

MOST_RANKS: Final = 8
"""In a list; of more ranks the extremes."""


def rank_mark(region: RegionMeasures) -> str:
    """The rank that takes much longer itself, and how much: `rank 3 +41 %`, `rank 1 CPU ×69`; without `CPU` it is its
    GPU, if the region has work for one. Empty where ranks are alike, or there is one.
    """
    slow = region.over_ranks and region.over_ranks.slow
    if not slow:
        return ""
    kind = " CPU" if slow.of == "cpu" and region.launches and region.launches.median else ""
    if slow.took_ns < 2 * slow.others_ns:
        return f"rank {slow.rank}{kind} +{100 * slow.took_ns / slow.others_ns - 100:.0f} %"
    times = slow.took_ns / max(slow.others_ns, 1)
    return f"rank {slow.rank}{kind} ×{times:.1f}" if times < 9.95 else f"rank {slow.rank}{kind} ×{times:,.0f}"


def whose_numbers(result: Result) -> str:
    """`2 ranks; the times are those of rank 0, the median rank`; empty without ranks."""
    if len(result.ranks) < 2:
        return f"Rank {result.ranks[0].rank} of several" if result.ranks else ""
    return f"{len(result.ranks)} ranks; the times are those of rank {_shown(result).rank}, the median rank"


def _shown(result: Result) -> RankMeasures:
    return next(each for each in result.ranks if 0 in each.traces)


def row_on(rank: RankMeasures, region: RegionMeasures) -> RankRegion | None:
    """The region on that rank."""
    same = (
        each for each in rank.regions if (each.name, each.file, each.line) == (region.name, region.file, region.line)
    )
    return next(same, None)


def most_telling(ranks: Sequence[RankMeasures], ns_of: Sequence[int]) -> tuple[Sequence[RankMeasures], int]:
    """Of many ranks those with the most and the least of something, in the order of their numbers, and how many more
    there are.
    """
    if len(ranks) <= MOST_RANKS:
        return ranks, 0
    order = sorted(range(len(ranks)), key=lambda place: ns_of[place])
    half = MOST_RANKS // 2
    return [ranks[place] for place in sorted({*order[:half], *order[-half:]})], len(ranks) - MOST_RANKS
