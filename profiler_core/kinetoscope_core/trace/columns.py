"""A trace as columns: what attribution and the findings read. All times are integer ns on the trace's own clock."""

from array import array
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import compress
from pathlib import Path
from typing import Final, NamedTuple

from kinetoscope_core.results.measures import Device
from kinetoscope_core.trace.events import Collective
from kinetoscope_core.trace.schema import API_CALL, OPERATOR, REGION

_IS: Final = {kind: bytes(value == kind for value in range(256)) for kind in (OPERATOR, REGION, API_CALL)}


class Thread(NamedTuple):
    """A thread as the trace names it; both are text because old traces write `tid` as text, or `"stream 7"`."""

    pid: str
    tid: str


def _longs() -> "array[int]":
    return array("q")


def _indices() -> "array[int]":
    return array("i")


def _kinds() -> "array[int]":
    return array("B")


@dataclass(slots=True)
class HostSlices:
    """Regions, operators and CUDA API calls of all threads, in the order of the file, which breaks ties of equal times.

    `name` indexes `Trace.names`, `thread` indexes `Trace.threads`, `kind` is one of `schema.OPERATOR`, `REGION` and
    `API_CALL`. -1 stands for "not given" in `external_id`, `correlation` (calls) and `sequence` (operators).
    `forward_thread` is the running number of the forward thread, above 0 on backward operators only.
    `unfinished` has the regions that were open when the recording ended, `untimed` those without times that can be.
    """

    kind: "array[int]" = field(default_factory=_kinds)
    name: "array[int]" = field(default_factory=_indices)
    thread: "array[int]" = field(default_factory=_indices)
    start_ns: "array[int]" = field(default_factory=_longs)
    duration_ns: "array[int]" = field(default_factory=_longs)
    external_id: "array[int]" = field(default_factory=_longs)
    correlation: "array[int]" = field(default_factory=_longs)
    sequence: "array[int]" = field(default_factory=_longs)
    forward_thread: "array[int]" = field(default_factory=_longs)
    unfinished: set[int] = field(default_factory=set[int])
    untimed: set[int] = field(default_factory=set[int])

    def __len__(self) -> int:
        return len(self.kind)

    def indices_of(self, kind: int) -> list[int]:
        """The places of all slices of one kind, in file order."""
        return list(compress(range(len(self)), self.kind.tobytes().translate(_IS[kind])))

    def regions(self) -> list[int]:
        """The places of all regions."""
        return self.indices_of(REGION)

    def operators(self) -> list[int]:
        """The places of all operators."""
        return self.indices_of(OPERATOR)

    def api_calls(self) -> list[int]:
        """The places of all runtime and driver calls."""
        return self.indices_of(API_CALL)

    def backward_operators(self) -> list[int]:
        """The places of the operators that name a forward thread."""
        numbers = self.forward_thread
        named = compress(range(len(self)), numbers)
        return [index for index in named if numbers[index] > 0 and self.kind[index] == OPERATOR]


@dataclass(slots=True)
class DeviceActivities:
    """Kernels, copies and sets, in the order of the file.

    `kind` is `schema.KERNEL`, `MEMCPY` or `MEMSET`. -1 stands for "not given" in `device`, `stream`, `correlation` and
    `copied_bytes` (copies only). `thread` is the row of the file that an activity stands in, as an index into
    `Trace.threads`. `cut` has those whose duration was no number of ns that can be; it was made 0. `collectives` has,
    by place, what kernels say of the collective that they carry out.
    """

    kind: "array[int]" = field(default_factory=_kinds)
    name: "array[int]" = field(default_factory=_indices)
    device: "array[int]" = field(default_factory=_longs)
    stream: "array[int]" = field(default_factory=_longs)
    thread: "array[int]" = field(default_factory=_indices)
    correlation: "array[int]" = field(default_factory=_longs)
    start_ns: "array[int]" = field(default_factory=_longs)
    duration_ns: "array[int]" = field(default_factory=_longs)
    copied_bytes: "array[int]" = field(default_factory=_longs)
    cut: set[int] = field(default_factory=set[int])
    collectives: dict[int, Collective] = field(default_factory=dict[int, Collective])

    def __len__(self) -> int:
        return len(self.kind)


@dataclass(slots=True)
class OverheadSlices:
    """The profiler's own work. Kineto does not say on which thread."""

    name: "array[int]" = field(default_factory=_indices)
    start_ns: "array[int]" = field(default_factory=_longs)
    duration_ns: "array[int]" = field(default_factory=_longs)

    def __len__(self) -> int:
        return len(self.name)


@dataclass(slots=True)
class PythonFrames:
    """Calls of Python functions, which traces with stacks have; of torch's own files only some.

    Their names are `FILE(LINE): FUNCTION`, where the file lacks what it has in common with an entry of `sys.path`, and
    the line is that where the function begins, or where it was when the recording began.
    """

    name: "array[int]" = field(default_factory=_indices)
    thread: "array[int]" = field(default_factory=_indices)
    start_ns: "array[int]" = field(default_factory=_longs)
    duration_ns: "array[int]" = field(default_factory=_longs)

    def __len__(self) -> int:
        return len(self.name)


@dataclass(slots=True)
class ForwardBackwardFlows:
    """`fwdbwd` arrows whose two ends are both in the trace: from a forward operator to its backward node."""

    forward_thread: "array[int]" = field(default_factory=_indices)
    forward_ns: "array[int]" = field(default_factory=_longs)
    backward_thread: "array[int]" = field(default_factory=_indices)
    backward_ns: "array[int]" = field(default_factory=_longs)

    def __len__(self) -> int:
        return len(self.forward_thread)


@dataclass(frozen=True, slots=True)
class Metadata:
    """What the file says of itself.

    `base_time_ns` plus a time of the trace is on the clock of `time.time_ns()`; `None` where the times are absolute.
    `groups` are the process groups that the rank knew, by name, with the ranks in them.
    """

    base_time_ns: int | None = None
    device: Device | None = None
    rank: int | None = None
    world_size: int | None = None
    trace_id: str | None = None
    has_stacks: bool = False
    host: str | None = None
    groups: Mapping[str, tuple[int, ...]] = field(default_factory=dict[str, tuple[int, ...]])


@dataclass(frozen=True, slots=True)
class Trace:
    """One Kineto trace, without process names.

    `events` counts everything the file held; `is_cut` says that its end is missing, and with it perhaps whole kinds of
    events (Kineto writes device activities last).
    """

    path: Path
    names: Sequence[str]
    threads: Sequence[Thread]
    host: HostSlices
    device: DeviceActivities
    overhead: OverheadSlices
    frames: PythonFrames
    flows: ForwardBackwardFlows
    metadata: Metadata
    events: int
    is_cut: bool
