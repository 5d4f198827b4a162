"""Which span was the innermost open one at a moment, for the spans of one thread."""

from bisect import bisect_right
from collections.abc import Iterable


class Timeline:
    """Answers `innermost_at`. Spans come as (start, end, id), in the order in which they were entered.

    A span is open from its start up to, not including, its end. Spans may cross: the innermost is the one entered last.
    """

    __slots__ = ("_innermost", "_times")

    def __init__(self, spans: Iterable[tuple[int, int, int]]) -> None:
        self._times: list[int] = []
        self._innermost: list[int] = []
        entered: list[tuple[int, int]] = []
        for start, end, ident in spans:
            self._leave_until(start, entered)
            entered.append((end, ident))
            self._times.append(start)
            self._innermost.append(ident)
        self._leave_until(None, entered)

    def _leave_until(self, moment: int | None, entered: list[tuple[int, int]]) -> None:
        while entered and (moment is None or entered[-1][0] <= moment):
            end, _ = entered.pop()
            while entered and entered[-1][0] <= end:
                entered.pop()
            self._times.append(end)
            self._innermost.append(entered[-1][1] if entered else -1)

    def innermost_at(self, moment: int) -> int:
        """The id of the innermost span open at that moment, -1 if none is."""
        place = bisect_right(self._times, moment) - 1
        return self._innermost[place] if place >= 0 else -1
