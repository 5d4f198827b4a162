"""Which region each region is nested in: regions as a tree, where calls are one already. Knows calls and keys alone."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from kinetoscope_core.analysis.statistics import START_UP, RecordedCalls, RegionKey


@dataclass(frozen=True, slots=True, eq=False)
class _Way:
    """A way into calls: the regions around them from the outside in, each once, and their own at the end."""

    key: RegionKey
    around: "_Way | None"

    def inside_out(self) -> "Iterator[_Way]":
        way: _Way | None = self
        while way is not None:
            yield way
            way = way.around


def parents_of(recorded: Sequence[RecordedCalls]) -> dict[RegionKey, RegionKey]:
    """For each region the innermost other one that holds all of its calls; what no other one holds is left out.

    Where a region is entered again inside of itself, the way begins anew at its outermost call. Warm-up calls count
    only where there are no others: the recording may begin inside a region, which is not seen around the first calls.
    """
    ways: defaultdict[RegionKey, list[_Way]] = defaultdict(list)
    further: dict[tuple[_Way | None, RegionKey], _Way] = {}
    warm: set[_Way] = set()
    for part in recorded:
        way_of: list[_Way | None] = []
        is_warmup = part.is_warmup or [False] * len(part.calls)
        for key, call, is_cold in zip(part.keys, part.calls, is_warmup, strict=True):
            around = way_of[call.parent] if call.parent >= 0 else None
            if key == START_UP:
                way_of.append(around)
                continue
            way = further.get((around, key))
            if way is None:
                known = () if around is None else around.inside_out()
                way = next((each for each in known if each.key == key), None)
                if way is None:
                    way = _Way(key, around)
                    ways[key].append(way)
                further[around, key] = way
            way_of.append(way)
            if not is_cold:
                warm.add(way)
    parents: dict[RegionKey, RegionKey] = {}
    for key, found in ways.items():
        parent = _innermost([way for way in found if way in warm] or found)
        if parent is not None and not _is_inside(parent, key, parents):
            parents[key] = parent
    return parents


def _is_inside(inner: RegionKey | None, outer: RegionKey, parents: Mapping[RegionKey, RegionKey]) -> bool:
    """As two threads may have it: each region's first call around the second of the other."""
    while inner is not None and inner != outer:
        inner = parents.get(inner)
    return inner is not None


def _innermost(ways: Sequence[_Way]) -> RegionKey | None:
    """The last region that all the ways have in common, their own excepted."""
    first, *others = ([each.key for each in way.inside_out()][1:] for way in ways)
    common = set(first).intersection(*others)
    return next((key for key in first if key in common), None)
