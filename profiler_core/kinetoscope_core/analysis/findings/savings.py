"""What can be saved: no time twice, and never more than there is."""

from collections.abc import Iterable
from typing import NamedTuple

from kinetoscope_core.analysis.attribution.intervals import Union


class Stretch(NamedTuple):
    """A stretch of time that could be saved: of a device's work, or else of the CPU's. Times are those of the trace."""

    recording: int
    is_of_device: bool
    start_ns: int
    end_ns: int


class Savings:
    """The time of one region that findings have claimed so far, of the CPU and of the device apart."""

    def __init__(self) -> None:
        self._claimed: dict[tuple[int, bool], Union] = {}

    def of(self, stretches: Iterable[Stretch]) -> int:
        """How much of the stretches nobody has claimed yet, in ns; from now on they are."""
        wanted: dict[tuple[int, bool], list[tuple[int, int]]] = {}
        for recording, is_of_device, start_ns, end_ns in stretches:
            wanted.setdefault((recording, is_of_device), []).append((start_ns, end_ns))
        saved_ns = 0
        for where, spans in wanted.items():
            claimed = self._claimed.get(where, Union(()))
            together = Union([*claimed, *spans])
            saved_ns += together.total_ns - claimed.total_ns
            self._claimed[where] = together
        return saved_ns
