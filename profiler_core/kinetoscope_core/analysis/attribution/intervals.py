"""Unions of intervals of time, and how much of a span they cover."""

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator


class Union:
    """The union of intervals, given in any order as (start, end), ready to be asked what it covers."""

    __slots__ = ("_before", "_ends", "_starts")

    def __init__(self, intervals: Iterable[tuple[int, int]]) -> None:
        self._starts: list[int] = []
        self._ends: list[int] = []
        for start, end in sorted(intervals):
            if self._ends and start <= self._ends[-1]:
                self._ends[-1] = max(self._ends[-1], end)
            else:
                self._starts.append(start)
                self._ends.append(end)
        self._before = [0]
        for start, end in zip(self._starts, self._ends, strict=True):
            self._before.append(self._before[-1] + end - start)

    def __iter__(self) -> Iterator[tuple[int, int]]:
        return zip(self._starts, self._ends, strict=True)

    @property
    def total_ns(self) -> int:
        """The length of all of it."""
        return self._before[-1]

    def without(self, other: "Union") -> Iterator[tuple[int, int]]:
        """The stretches of it that the other does not cover, as (start, end)."""
        for start, end in self:
            at = start
            for begin, finish in other.within(start, end):
                if begin > at:
                    yield at, begin
                at = finish
            if at < end:
                yield at, end

    def within(self, start: int, end: int) -> Iterator[tuple[int, int]]:
        """Its intervals that reach into the span, whole."""
        places = range(bisect_right(self._ends, start), bisect_left(self._starts, end))
        return ((self._starts[place], self._ends[place]) for place in places)

    def covered(self, start: int, end: int) -> int:
        """How much of the span from `start` to `end` lies in the union."""
        first = bisect_right(self._ends, start)
        last = bisect_left(self._starts, end)
        if first >= last:
            return 0
        whole = self._before[last] - self._before[first]
        return whole - max(0, start - self._starts[first]) - max(0, self._ends[last - 1] - end)
