"""The numbers and their meaning, as plain values. docs/measures.md defines each of them.

All times are integer nanoseconds. `None` means "not measured", never zero.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

Bound = Literal["overhead", "compute", "mixed", "sync", "cpu-only"]


@dataclass(frozen=True, slots=True)
class Problem:
    """Something that did not stop us but that the reader of the numbers must know.

    `code` is stable and made of words with hyphens; `message` says what happened and what to do.
    """

    code: str
    message: str
    evidence: Mapping[str, int | str] = field(default_factory=dict[str, "int | str"])
    file: str | None = None
    line: int | None = None


@dataclass(frozen=True, slots=True)
class Device:
    """The GPUs a trace names: the name of the first, and how many there are."""

    name: str
    count: int


@dataclass(frozen=True, slots=True)
class Occurrence:
    """One passage through a region: from entering to leaving one `record_function`, on one thread.

    `parent` is the index of the occurrence it is nested in, -1 for none; `thread_parent` counts only nesting on its own
    thread, `parent` also that of a region of an autograd thread in the forward thread's. `start_ns` is on the trace's
    clock. The CUDA fields are `None` where the trace holds no device activity at all. `sync_ns` is time waiting for the
    device, `sync_idle_ns` the part of it in which no device worked; `overhead_ns` is the profiler's own work inside.
    """

    name: str
    pid: str
    tid: str
    start_ns: int
    parent: int
    thread_parent: int
    is_finished: bool
    cpu_total_ns: int
    cpu_self_ns: int
    sync_ns: int
    overhead_ns: int
    cuda_total_ns: int | None
    cuda_self_ns: int | None
    cuda_busy_ns: int | None
    backward_cuda_ns: int | None
    sync_idle_ns: int | None
    launches: int | None


@dataclass(frozen=True, slots=True)
class Spread:
    """Statistics over measured occurrences; the median of an even number is rounded to the integer below."""

    sum: int
    median: int
    min: int
    max: int


@dataclass(frozen=True, slots=True)
class OccurrenceInTrace:
    """One occurrence to point at. `trace` is the index of its trace among those measured.

    `start_ns` is `time.time_ns()` of entering, or the trace's own clock where that is not known.
    """

    trace: int
    start_ns: int
    cpu_total_ns: int
    cuda_total_ns: int | None


@dataclass(frozen=True, slots=True)
class RegionMeasures:
    """What one region took. `occurrences` counts all passages, `measured` those that enter the statistics.

    `file` and `line` (from 1) are where the region stands in the source, `None` where that is not known.
    `is_cold` says that warm-up passages had to be measured, for want of others. `first` is the first passage seen.
    """

    name: str
    file: str | None
    line: int | None
    occurrences: int
    measured: int
    is_cold: bool
    unfinished: int
    cpu_total_ns: Spread
    cpu_self_ns: Spread
    cuda_total_ns: Spread | None
    cuda_self_ns: Spread | None
    cuda_busy_ns: Spread | None
    backward_cuda_ns: Spread | None
    launches: Spread | None
    overhead_ns: int
    bound: Bound | None
    median_occurrence: OccurrenceInTrace
    first: OccurrenceInTrace
