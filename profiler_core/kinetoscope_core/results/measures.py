"""The numbers and their meaning, as plain values. docs/measures.md defines each of them.

All times are integer nanoseconds. `None` means "not measured", never zero.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from kinetoscope_core.results.communication import Collectives, RankSpread
from kinetoscope_core.results.timeline import Timeline

Bound = Literal["overhead", "compute", "communication", "copy", "mixed", "sync", "cpu-only"]
Severity = Literal["warning", "information", "hint"]
Origin = Literal["user", "module", "torch"]
"""Who made a region: the user's `record_function`, `--modules`, or torch itself."""


@dataclass(frozen=True, slots=True)
class Device:
    """The GPUs a trace names: the name of the first, and how many there are."""

    name: str
    count: int


@dataclass(slots=True)  # a long trace has 100,000 of these, and frozen ones take three times as long to make
class Call:
    """One call through a region: from entering to leaving one `record_function`, on one thread.

    `parent` is the index of the call it is nested in, -1 for none; `thread_parent` counts only nesting on its own
    thread, `parent` also that of a region of an autograd thread in the forward thread's. `start_ns` is on the trace's
    clock. The CUDA fields are `None` where the trace holds no device activity at all. `sync_ns` is time waiting for the
    device, `sync_idle_ns` the part of it in which no device worked; `overhead_ns` is the profiler's own work inside.
    `cuda_busy_ns` is `None` also where an activity of it has times that cannot be. `has_times` is false where its own
    start and end cannot be, `has_cuda_times` where the length of an activity cannot be. `unrecorded_launches` are the
    launches (nested regions included) of which the trace has no activity.
    `captures` says that a CUDA graph was captured inside, so that the call did something else than the others.
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
    has_times: bool = True
    has_cuda_times: bool = True
    unrecorded_launches: int = 0
    captures: bool = False


@dataclass(frozen=True, slots=True)
class Spread:
    """Statistics over measured calls. The median is the lower one, so that a call has it: of an even number of calls
    the smaller of the two values in the middle.
    """

    sum: int
    median: int
    min: int
    max: int


@dataclass(frozen=True, slots=True)
class CallInTrace:
    """One call to point at. `trace` is the index of its trace among those measured.

    `start_ns` is `time.time_ns()` of entering, or the trace's own clock where that is not known.
    """

    trace: int
    start_ns: int
    cpu_total_ns: int
    cuda_total_ns: int | None


@dataclass(frozen=True, slots=True)
class KernelShare:
    """All device activities of one name in a region and the regions nested in it. `short` is what people read of it."""

    name: str
    count: int
    total_ns: int
    short: str = ""


@dataclass(frozen=True, slots=True)
class OperatorShare:
    """All operators of one name that stand directly in a region, and the device activities launched in them.

    `is_on_other_thread` marks those of an autograd thread whose work belongs to the region; only those that launched.
    """

    name: str
    is_on_other_thread: bool
    count: int
    cpu_total_ns: int
    cuda_total_ns: int | None


@dataclass(frozen=True, slots=True)
class ChainLink:
    """One step of the way from a region to an activity of the device."""

    kind: Literal["region", "operator", "api_call", "activity"]
    name: str


@dataclass(frozen=True, slots=True)
class Breakdown:
    """What the measured calls of a region are made of; all times are sums over them.

    The four CPU times add up to the CPU total, the two of CUDA to the CUDA total. `kernels` and `operators` are the
    costliest, `kernel_names` and `operator_names` say how many there are. `chain` leads to an activity of the costliest
    kernel. `threads` is the number of threads, `on_other_threads` that of calls on others than the first call's.
    `cpu_autograd_wait_ns` is the part of CPU self in which the calls waited for an autograd thread that ran operators
    for them; `autograd_operators` are the costliest of these, the outermost ones, with what each took of that time and
    the device activities launched in them, and `autograd_operator_names` says how many there are.
    """

    cpu_nested_ns: int
    cpu_operators_ns: int
    cpu_api_calls_ns: int
    cpu_self_ns: int
    cuda_nested_ns: int | None
    cuda_self_ns: int | None
    kernels: tuple[KernelShare, ...]
    kernel_names: int
    operators: tuple[OperatorShare, ...]
    operator_names: int
    chain: tuple[ChainLink, ...]
    threads: int
    on_other_threads: int
    cpu_autograd_wait_ns: int = 0
    autograd_operators: tuple[OperatorShare, ...] = ()
    autograd_operator_names: int = 0


@dataclass(frozen=True, slots=True)
class CallTimes:
    """What one call took. `trace` and `start_ns` are as in `CallInTrace`; `raised` is the type of the exception that
    ended it, `None` where none did.
    """

    trace: int
    start_ns: int
    is_warmup: bool
    cpu_total_ns: int
    cpu_self_ns: int
    cuda_total_ns: int | None
    cuda_busy_ns: int | None
    raised: str | None = None


@dataclass(frozen=True, slots=True)
class Spot:
    """A stretch of a trace to look at. `trace` and `start_ns` are as in `CallInTrace`."""

    trace: int
    start_ns: int
    duration_ns: int


@dataclass(frozen=True, slots=True)
class Finding:
    """What a rule says of a region or of a whole run. `code` names the rule and its page.

    `message` ends with what can be saved. `evidence` has its numbers, by names with their units. `cost_ns` is the
    time that it is about, added up over the measured calls; `saves_at_most_ns` is an upper bound of what can be
    gained of it, `None` where there is no honest one, and `saves_per_call_ns` the same for each call (`call_is` says
    so of a batch, where the whole run waits for data). No time of a region is counted in two of its findings. `spot`
    is where in the trace to look. `is_suppressed`: by a comment in the source that ran.
    """

    code: str
    severity: Severity
    message: str
    evidence: Mapping[str, int | str]
    cost_ns: int
    saves_at_most_ns: int | None = None
    spot: Spot | None = None
    is_suppressed: bool = False
    saves_per_call_ns: int | None = None
    call_is: Literal["call", "batch"] = "call"


@dataclass(frozen=True, slots=True)
class RegionName:
    """What makes a region the same one: its name, and where it stands, if that is known (`line` from 1)."""

    name: str
    file: str | None
    line: int | None


@dataclass(frozen=True, slots=True)
class ModuleFacts:
    """Which module a region is the forward of. `file` and `line` (from 1) are where the `forward` of its class begins,
    `None` where that is not the user's. A compiled one has no regions of modules within.
    """

    class_name: str
    file: str | None
    line: int | None
    is_compiled: bool


@dataclass(frozen=True, slots=True)
class Unmeasured:
    """A region that was entered and has no call with a time: none had ended, or their times cannot be.

    `at_least_ns` is what the longest unfinished call had taken when the recording stopped, `cuda_at_least_ns` the CUDA
    total of the same call; `None` where no call was unfinished, or CUDA was not measured. `cuda_recorded_ns` is the
    CUDA self of all its calls: part of the device total, and of no other region. `parent` is as in `RegionMeasures`.
    """

    name: str
    file: str | None
    line: int | None
    calls: int
    unfinished: int
    at_least_ns: int | None
    cuda_at_least_ns: int | None
    cuda_recorded_ns: int | None
    first: CallInTrace
    parent: RegionName | None = None


@dataclass(frozen=True, slots=True)
class StartUp:
    """The launch of ours that takes the profiler's start-up wait: no region, and in no total."""

    cpu_ns: int
    cuda_ns: int | None
    launches: int | None


@dataclass(frozen=True, slots=True)
class BackwardWork:
    """The GPU time of what autograd launched in backward passes; `of_regions_ns` is the part whose forward operator ran
    in a region.
    """

    total_ns: int
    of_regions_ns: int


@dataclass(frozen=True, slots=True)
class RegionMeasures:
    """What one region took. `calls` counts all calls, `measured` those that enter the statistics.

    `file` and `line` (from 1) are where the region stands in the source, `None` where that is not known.
    `is_cold` says that warm-up calls had to be measured, for want of others. `first` is the first call seen,
    `median_call` one whose CPU total is `cpu_total_ns.median`.
    `call_times` are those of all calls seen, or of 200 of them; `timeline` is the median call's, `None` where there are
    many regions; `findings` have the costliest first. `cpu_recorded_ns` and `cuda_recorded_ns` are the totals of all
    calls seen, warm-up included: what the region's share of the recording is counted by.
    `unfinished` and `untimed` (their times cannot be) calls are in no statistics; `at_least_ns` is what the longest
    unfinished one had taken when the recording stopped. `names` is above 1 where a region stands for so many names that
    differ in counters alone; `series` is the name of the series that a region is part of. `parent` is the innermost
    other region that holds all calls of this one, a series in place of its names; `None` where there is none.
    `cpu_middle_ns` and `cuda_middle_ns` are the ends of the middle half of the totals.
    `origin` says who made it, `module` which module it is. `slowest` is the name of a series with the largest median.
    `raised` counts the calls that an exception ended, of which `exception` is the type of the last; `is_raised` says
    that they had to be measured, for want of others. `communication` is what its measured calls communicated on this
    rank, `None` where that is nothing; `over_ranks` how it differs between the ranks of a job, `None` with one process.
    """

    name: str
    file: str | None
    line: int | None
    calls: int
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
    median_call: CallInTrace
    first: CallInTrace
    breakdown: Breakdown
    call_times: tuple[CallTimes, ...]
    cpu_recorded_ns: int
    cuda_recorded_ns: int | None
    timeline: Timeline | None = None
    findings: tuple[Finding, ...] = ()
    untimed: int = 0
    at_least_ns: int | None = None
    names: int = 1
    series: str | None = None
    parent: RegionName | None = None
    cpu_middle_ns: tuple[int, int] | None = None
    cuda_middle_ns: tuple[int, int] | None = None
    raised: int = 0
    exception: str | None = None
    is_raised: bool = False
    origin: Origin = "user"
    module: ModuleFacts | None = None
    slowest: str | None = None
    communication: Collectives | None = None
    over_ranks: RankSpread | None = None
