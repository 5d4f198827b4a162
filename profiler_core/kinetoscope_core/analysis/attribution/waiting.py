"""When calls waited for a device: in which calls of their own thread, in n log n however deep they are nested."""

from bisect import bisect_right
from collections.abc import Callable, Container, Sequence
from typing import TYPE_CHECKING

from kinetoscope_core.trace import HostSlices

if TYPE_CHECKING:
    from array import array


class Waits:
    """The waiting calls of each thread among its calls. A wait is that of all calls open when it began."""

    def __init__(self, host: HostSlices, ends: Sequence[int]) -> None:
        self._host = host
        self._ends = ends
        self._threads: list[array[int]] = []

    def add(self, entered: "array[int]") -> None:
        """A thread: its calls in the order in which they were entered, and ~slice for each wait between them."""
        if any(each < 0 for each in entered):
            self._threads.append(entered)

    def sums(self, measure: Callable[[int, int], int], wanted: Container[int] | None = None) -> dict[int, int]:
        """For the wanted calls, or all, what they waited, each moment once; not those that did not.

        `measure` gives of a span what is counted, in ns: all of it, or the part in which something else was true.
        """
        found: dict[int, int] = {}
        host = self._host
        for entered in self._threads:
            # The union of all waits from here on, the last first: -start, end, and what is counted from there on.
            starts: list[int] = []
            ends: list[int] = []
            counted: list[int] = [0]
            for each in reversed(entered):
                if each < 0:
                    start = host.start_ns[~each]
                    end = start + host.duration_ns[~each]
                    while starts and -starts[-1] <= end:
                        starts.pop()
                        counted.pop()
                        end = max(end, ends.pop())
                    starts.append(-start)
                    ends.append(end)
                    counted.append(counted[-1] + measure(start, end))
                elif wanted is None or each in wanted:
                    left = self._ends[each]
                    after = bisect_right(starts, -left)
                    if after == len(starts):
                        continue
                    sum_ns = counted[-1] - counted[after]
                    if ends[after] > left:
                        sum_ns -= measure(left, ends[after])
                    if sum_ns:
                        found[each] = sum_ns
        return found
