"""One call of a region in detail, as plain values. All times are integer nanoseconds."""

from dataclasses import dataclass
from typing import Literal

HostKind = Literal["region", "operator", "launch", "sync", "api_call"]


@dataclass(frozen=True, slots=True)
class HostSpan:
    """One slice of the CPU in a `Timeline`: a region, an operator or a CUDA call.

    A call is a `sync` if it waits for the device, else a `launch` if it put activities of the trace on it. `thread` 0
    is the region's own. Spans of one thread and `depth` do not overlap.
    """

    kind: HostKind
    name: str
    thread: int
    depth: int
    start_ns: int
    duration_ns: int


@dataclass(frozen=True, slots=True)
class DeviceSpan:
    """One activity of the device in a `Timeline`. `launch` is the place of its launch in `host`, `None` if left out;
    `short` is what people read of its name.

    `stream` also names the device where the activities of the timeline are of several.
    """

    name: str
    stream: str
    start_ns: int
    duration_ns: int
    launch: int | None
    short: str = ""


@dataclass(frozen=True, slots=True)
class Timeline:
    """One call of a region in detail, in order of time. `trace` and `start_ns` are as in `CallInTrace`.

    All other times count from `start_ns`; `end_ns` is where the region and the last of its activities have ended. Where
    there is more than is kept, the longest spans are, and `…_left_out` counts the others.
    """

    trace: int
    start_ns: int
    cpu_total_ns: int
    end_ns: int
    host: tuple[HostSpan, ...]
    device: tuple[DeviceSpan, ...]
    host_left_out: int
    device_left_out: int
