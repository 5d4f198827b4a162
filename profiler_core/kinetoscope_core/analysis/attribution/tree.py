"""The nest of calls as a tree: sums up the nesting, and unions of times, in n log n however deep it is."""

from bisect import bisect_left
from collections.abc import Iterable, Sequence
from heapq import heappop, heappush
from typing import TypeAlias

Span: TypeAlias = tuple[int, int, int]
"""From when until when something took place, in ns, and the call that it belongs to."""


class Tree:
    """Calls by what they are nested in. `parent` is -1 for none, and comes before what is nested in it."""

    def __init__(self, parent: Sequence[int]) -> None:
        self.parent = parent
        number = len(parent)
        # What lies in no other one has the last place, -1, around it. Each knows one far out (as in outermost.py).
        self._out = [*parent, -1]
        self._depth = [0] * (number + 1)
        self._far = [-1] * (number + 1)
        size = [1] * (number + 1)
        for place in range(number - 1, -1, -1):
            size[parent[place]] += size[place]
        # The number of each in a walk that goes into all that is nested in one before it goes on to the next.
        self._turn = [0] * number
        next_turn = [0] * (number + 1)
        for place, around in enumerate(parent):
            self._depth[place] = self._depth[around] + 1
            far = self._far[around]
            is_even = self._depth[around] - self._depth[far] == self._depth[far] - self._depth[self._far[far]]
            self._far[place] = self._far[far] if is_even else around
            self._turn[place] = next_turn[around]
            next_turn[place] = next_turn[around] + 1
            next_turn[around] += size[place]

    def sum_up(self, values: list[int]) -> None:
        """Adds to the value of each the values of all that is nested in it."""
        parent = self.parent
        for place in range(len(parent) - 1, -1, -1):
            if parent[place] >= 0:
                values[parent[place]] += values[place]

    def around_both(self, one: int, other: int) -> int:
        """The innermost call that is, or holds, both; -1 for none."""
        out, far, depth = self._out, self._far, self._depth
        if depth[one] < depth[other]:
            one, other = other, one
        while depth[one] > depth[other]:
            one = far[one] if depth[far[one]] >= depth[other] else out[one]
        while one != other:
            steps = far if far[one] != far[other] else out
            one, other = steps[one], steps[other]
        return one

    def unions(self, spans: Iterable[Span]) -> list[int]:
        """For each call how long any span of it, or of what is nested in it, was open. Spans come by start.

        All lengths summed up, less what was counted twice: a span that begins while others are open has with them in
        common the calls that are around it and around one of its neighbours in the order of the walk.
        """
        sums = [0] * len(self.parent)
        together: list[Span] = []
        until = -(2**63)
        for span in spans:
            start, end, call = span
            sums[call] += end - start
            if start >= until:
                if len(together) > 1:
                    self._take_off(together, sums)
                together.clear()
            together.append(span)
            until = max(until, end)
        if len(together) > 1:
            self._take_off(together, sums)
        self.sum_up(sums)
        return sums

    def _take_off(self, spans: Iterable[Span], sums: list[int]) -> None:
        """Takes off what spans have in common, at the innermost call that has it twice."""
        open_ones: list[tuple[int, int]] = []  # (turn, call)
        ends: list[tuple[int, int]] = []
        for start, end, call in spans:
            self._close(start, ends, open_ones, sums)
            place = bisect_left(open_ones, (self._turn[call], call))
            if (common := self._common(open_ones, place, call)) >= 0:
                sums[common] += start
            open_ones.insert(place, (self._turn[call], call))
            heappush(ends, (end, call))
        self._close(None, ends, open_ones, sums)

    def _close(
        self, moment: int | None, ends: list[tuple[int, int]], open_ones: list[tuple[int, int]], sums: list[int]
    ) -> None:
        while ends and (moment is None or ends[0][0] <= moment):
            end, call = heappop(ends)
            place = bisect_left(open_ones, (self._turn[call], call))
            del open_ones[place]
            if (common := self._common(open_ones, place, call)) >= 0:
                sums[common] -= end

    def _common(self, open_ones: Sequence[tuple[int, int]], place: int, call: int) -> int:
        """The innermost call around one and around any of the open ones, between which it has this place."""
        common = -1
        for _, neighbour in open_ones[max(place - 1, 0) : place + 1]:
            both = self.around_both(call, neighbour)
            common = both if self._depth[both] > self._depth[common] else common
        return common
