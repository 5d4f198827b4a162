"""Unions of intervals of time, and how much of a span they cover."""

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence


class Longest:
    """Which of the numbers between two places is the largest, in log n: the winners of a tournament."""

    __slots__ = ("_first", "_winners")

    def __init__(self, numbers: Sequence[int]) -> None:
        # Of equal ones the first wins.
        self._first = len(numbers)
        self._winners = [(0, 0)] * len(numbers) + [(number, -place) for place, number in enumerate(numbers)]
        for place in range(len(numbers) - 1, 0, -1):
            self._winners[place] = max(self._winners[2 * place], self._winners[2 * place + 1])

    def among(self, begin: int, end: int) -> int:
        """The place of the largest from `begin` up to, not including, `end`."""
        best = self._winners[self._first + begin]
        begin, end = self._first + begin, self._first + end
        while begin < end:
            if begin % 2:
                best = max(best, self._winners[begin])
                begin += 1
            if end % 2:
                end -= 1
                best = max(best, self._winners[end])
            begin, end = begin // 2, end // 2
        return -best[1]


class Union:
    """The union of intervals, given in any order as (start, end), ready to be asked what it covers."""

    __slots__ = ("_before", "_ends", "_longest", "_starts")

    def __init__(self, intervals: Iterable[tuple[int, int]]) -> None:
        self._starts: list[int] = []
        self._ends: list[int] = []
        self._longest: Longest | None = None
        for start, end in sorted(intervals):
            if self._ends and start <= self._ends[-1]:
                self._ends[-1] = max(self._ends[-1], end)
            else:
                self._starts.append(start)
                self._ends.append(end)
        self._before = [0]
        for start, end in zip(self._starts, self._ends, strict=True):
            self._before.append(self._before[-1] + end - start)

    def __len__(self) -> int:
        return len(self._starts)

    def __iter__(self) -> Iterator[tuple[int, int]]:
        return zip(self._starts, self._ends, strict=True)

    @property
    def total_ns(self) -> int:
        """The length of all of it."""
        return self._before[-1]

    @property
    def span(self) -> tuple[int, int] | None:
        """From where until where it reaches; `None` if there is nothing of it."""
        return (self._starts[0], self._ends[-1]) if self._starts else None

    def without(self, other: "Union") -> Iterator[tuple[int, int]]:
        """The stretches of it that the other does not cover, as (start, end)."""
        for start, end in self:
            yield from other.gaps(start, end)

    def gaps(self, start: int, end: int) -> Iterator[tuple[int, int]]:
        """The stretches of the span that it does not cover."""
        at = start
        for begin, finish in self.within(start, end):
            if begin > at:
                yield at, begin
            at = finish
        if at < end:
            yield at, end

    def longest_gap(self, start: int, end: int) -> tuple[int, int]:
        """The longest stretch of the span that it does not cover, the first of several; (0, 0) for none."""
        first = bisect_right(self._ends, start)
        last = bisect_left(self._starts, end) - 1
        if first > last:
            return (start, end) if start < end else (0, 0)
        gaps = [(start, self._starts[first]), (self._ends[last], end)]
        if first < last:
            if self._longest is None:
                lengths = [begin - finish for begin, finish in zip(self._starts[1:], self._ends, strict=False)]
                self._longest = Longest(lengths)
            place = self._longest.among(first, last)
            gaps.insert(1, (self._ends[place], self._starts[place + 1]))
        gap = max(gaps, key=lambda each: each[1] - each[0])
        return gap if gap[0] < gap[1] else (0, 0)

    def end_of_gaps(self, start: int, length: int) -> int:
        """The moment until which, from the start on, so much was not covered."""

        def not_covered_before(place: int) -> int:
            return self._starts[place] - self._before[place]

        first = bisect_right(self._ends, start)
        begun = start - self._before[first] - (max(start - self._starts[first], 0) if first < len(self) else 0)
        place = bisect_left(range(len(self)), begun + length, first, key=not_covered_before)
        return begun + length + self._before[place]

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
