"""The regions of a result as a tree: each below the one that it is nested in, in the order of the panel *Details*."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

from kinetoscope_core.results.measures import RegionMeasures, RegionName, Unmeasured
from kinetoscope_core.results.result import Result, rows_of, share_of

Row: TypeAlias = RegionMeasures | Unmeasured


@dataclass(frozen=True, slots=True)
class Placed:
    """A region in its place; `depth` counts the listed regions that it is nested in."""

    region: Row
    depth: int = 0


def arranged(result: Result, listed: Sequence[Row]) -> list[Placed]:
    """The listed regions, those with the largest share first; what has no share comes last."""
    parents = {_name_of(each): each.parent for each in (*rows_of(result), *result.unmeasured)}
    names = {_name_of(each) for each in listed}
    inside: defaultdict[RegionName | None, list[Row]] = defaultdict(list)
    for region in sorted(listed, key=lambda each: -_share(each, result)):
        around = region.parent
        while around is not None and around not in names:
            around = parents.get(around)
        inside[around].append(region)

    placed: list[Placed] = []
    ahead = [Placed(region) for region in reversed(inside[None])]
    while ahead:
        row = ahead.pop()
        placed.append(row)
        ahead += [Placed(region, row.depth + 1) for region in reversed(inside[_name_of(row.region)])]
    return placed


def _name_of(region: Row) -> RegionName:
    return RegionName(region.name, region.file, region.line)


def _share(region: Row, result: Result) -> float:
    share = None if isinstance(region, Unmeasured) else share_of(region, result)
    return -1.0 if share is None else share
