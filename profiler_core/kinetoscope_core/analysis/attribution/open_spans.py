"""Which span was the innermost open one at a moment, for the spans of one thread."""

from bisect import bisect_right
from collections.abc import Iterable, Iterator
from itertools import islice, pairwise


class OpenSpans:
    """Answers `innermost_at`. Spans come as (start, end, id), in the order in which they were entered.

    A span is open from its start up to, not including, its end. Spans may cross: the innermost is the one entered last.
    """

    __slots__ = ("_innermost", "_times")

    def __init__(self, spans: Iterable[tuple[int, int, int]]) -> None:
        self._times: list[int] = [-(2**63)]  # before all spans: none
        self._innermost: list[int] = [-1]
        ends: list[int] = []
        entered: list[int] = []
        for start, end, ident in spans:
            if ends and ends[-1] <= start:
                self._leave_until(start, ends, entered)
            elif entered and entered[-1] == ident and ends[-1] >= end:
                continue
            ends.append(end)
            entered.append(ident)
            self._times.append(start)
            self._innermost.append(ident)
        self._leave_until(None, ends, entered)

    def _leave_until(self, moment: int | None, ends: list[int], entered: list[int]) -> None:
        while ends and (moment is None or ends[-1] <= moment):
            end = ends[-1]
            while ends and ends[-1] <= end:
                ends.pop()
                entered.pop()
            self._times.append(end)
            self._innermost.append(entered[-1] if entered else -1)

    def changes(self) -> Iterator[tuple[int, int, int]]:
        """At which times how many more spans are the innermost one (1, 0 or -1), and how much their id grows by."""
        for time, (before, after) in zip(islice(self._times, 1, None), pairwise(self._innermost), strict=True):
            yield time, (after >= 0) - (before >= 0), max(after, 0) - max(before, 0)

    def innermost_at(self, moment: int) -> int:
        """The id of the innermost span open at that moment, -1 if none is."""
        return self._innermost[bisect_right(self._times, moment) - 1]
