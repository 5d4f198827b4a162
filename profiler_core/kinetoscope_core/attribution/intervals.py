"""Unions of intervals of time, and how much of a span they cover."""

from bisect import bisect_left, bisect_right
from collections.abc import Iterable


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

    def covered(self, start: int, end: int) -> int:
        """How much of the span from `start` to `end` lies in the union."""
        first = bisect_right(self._ends, start)
        last = bisect_left(self._starts, end)
        if first >= last:
            return 0
        whole = self._before[last] - self._before[first]
        return whole - max(0, start - self._starts[first]) - max(0, self._ends[last - 1] - end)
