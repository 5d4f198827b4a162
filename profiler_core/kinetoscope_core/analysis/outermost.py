"""Which call of a region holds another one of the same region, through all that is nested between them.

In n log n, however deep they are nested and however many are open at once (10,000 asyncio tasks).
"""

from collections import defaultdict
from collections.abc import Callable, Collection, Hashable, Sequence


def nearest_of_same_key(parents: Sequence[int], keys: Sequence[Hashable]) -> list[int]:
    """For each place the innermost place around it that has the same key, -1 for none. A parent comes first."""
    inside: defaultdict[int, list[int]] = defaultdict(list)
    for place, parent in enumerate(parents):
        inside[parent].append(place)
    nearest = [-1] * len(parents)
    open_ones: defaultdict[Hashable, list[int]] = defaultdict(list)
    # Entered as they are, left as their complements: the way through a nest without recursion.
    ahead = inside[-1][::-1]
    while ahead:
        place = ahead.pop()
        if place < 0:
            open_ones[keys[~place]].pop()
            continue
        around = open_ones[keys[place]]
        nearest[place] = around[-1] if around else -1
        around.append(place)
        ahead.append(~place)
        ahead += reversed(inside.get(place, ()))
    return nearest


def outermost(
    places: Collection[int], nearest: Sequence[int], end_of: Callable[[int], int], needed: Callable[[int], int]
) -> dict[int, int]:
    """For each of the places the outermost one of them around it that ends no sooner than it needs; else itself.

    `places`, in ascending order, are of one key. Around a place only those count that end later than all further out:
    of the others none is ever the outermost. Each of them knows the next one out and one far out (as in Myers' skew
    binary lists), so that the search takes log n steps.
    """
    last: dict[int, int] = {-1: -1}
    out: dict[int, int] = {}
    far: dict[int, int] = {}
    depth: dict[int, int] = {-1: 0}
    end: dict[int, int] = {}
    found: dict[int, int] = {}
    for place in places:
        around = nearest[place]
        passed: list[int] = []
        while around not in last:  # not one of the places
            passed.append(around)
            around = nearest[around]
        last.update(dict.fromkeys(passed, last[around]))
        last[place] = one = last[around]
        found[place] = place
        wanted = needed(place)
        if one >= 0 and end[one] >= wanted:
            while (next_out := _further(one, far, out, end, wanted)) >= 0:
                one = next_out
            found[place] = one
        own_end = end_of(place)
        one = last[place]
        if one < 0 or own_end > end[one]:
            end[place], out[place], depth[place] = own_end, one, depth[one] + 1
            jump = far.get(one, -1)
            is_even = one >= 0 and jump >= 0 and depth[one] - depth[jump] == depth[jump] - depth[far[jump]]
            far[place] = far[jump] if is_even else one
            last[place] = place
    return found


def _further(one: int, far: dict[int, int], out: dict[int, int], end: dict[int, int], wanted: int) -> int:
    """One further out that ends late enough, as far as is known in one step; -1 for none."""
    for further in (far[one], out[one]):
        if further >= 0 and end[further] >= wanted:
            return further
    return -1
