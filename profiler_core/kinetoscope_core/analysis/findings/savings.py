"""What can be saved: no time twice, and never more than there is."""

from collections.abc import Iterable
from typing import NamedTuple

from kinetoscope_core.analysis.attribution.intervals import Union
from kinetoscope_core.analysis.findings.phrases import percent
from kinetoscope_core.results.measures import RegionMeasures
from kinetoscope_core.text import time_text


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


def typical_ns(region: RegionMeasures) -> int:
    """What a call takes: the median on the CPU or, where that is longer, on the GPU."""
    return max(region.cpu_total_ns.median, region.cuda_busy_ns.median if region.cuda_busy_ns else 0)


def saves_per_call(mean_ns: int, takes_ns: int | None) -> int:
    """What can be saved of each call: no more than one takes, though the mean of a few may be more than that."""
    return mean_ns if takes_ns is None else min(mean_ns, takes_ns)


def savings_text(per_call_ns: int, takes_ns: int | None, call_is: str) -> str:
    """The last sentence of a message: ` Could save up to 5.79 ms per call (61 %).`; nothing where nothing is known."""
    if not per_call_ns:
        return ""
    share = f" ({percent(per_call_ns, takes_ns)})" if takes_ns else ""
    return f" Could save up to {time_text(per_call_ns)} per {call_is}{share}."
