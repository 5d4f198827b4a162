"""What a recording holds in which no region is the user's, as plain values (docs/measures.md, *Phases of a step*)."""

from dataclasses import dataclass
from typing import Literal

from kinetoscope_core.results.measures import KernelShare, OperatorShare, Spread

PhaseName = Literal["data loading", "forward", "backward", "optimizer step", "zero_grad", "everything else"]
KnownBy = Literal["ProfilerStep", "optimizer step", "data loading"]


@dataclass(frozen=True, slots=True)
class Phase:
    """What a part of the steps took over the whole recording: `cpu_ns` on the thread that trains, `cuda_ns` and
    `launches` on the devices. `calls` is how often it came, `None` for what belongs to no other phase.
    `…_per_step_ns` are over the measured steps, `None` where no steps are known.
    """

    name: PhaseName
    calls: int | None
    cpu_ns: int
    cuda_ns: int | None
    launches: int | None
    cpu_per_step_ns: Spread | None = None
    cuda_per_step_ns: Spread | None = None


@dataclass(frozen=True, slots=True)
class Steps:
    """The measured steps of a recording, what they are known by, and how long they took."""

    count: int
    known_by: KnownBy
    took_ns: Spread


@dataclass(frozen=True, slots=True)
class Caller:
    """A function of the user's that called operators, or launched kernels: how many, and what they took (operators: CPU
    and CUDA). `file` and `line` are as the trace has them: relative to an entry of `sys.path`, and where the function
    begins or, of one that was open when the recording began, where it was then.
    """

    file: str
    line: int
    function: str
    count: int
    total_ns: int


@dataclass(frozen=True, slots=True)
class CalledKernel(KernelShare):
    """With the costliest callers, where the trace holds stacks."""

    callers: tuple[Caller, ...] = ()


@dataclass(frozen=True, slots=True)
class CalledOperator(OperatorShare):
    """With the costliest callers, where the trace holds stacks."""

    callers: tuple[Caller, ...] = ()


@dataclass(frozen=True, slots=True)
class Contents:
    """What a recording without regions of the user's holds. `kernels` and `operators` are the costliest, `…_names` say
    how many names there are; the operators are those that lie in no other one. `activities` counts those of the device.
    `phases` are the parts of the steps, empty where the recording does not tell them; `steps` `None` likewise.
    """

    kernels: tuple[CalledKernel, ...]
    kernel_names: int
    activities: int
    operators: tuple[CalledOperator, ...]
    operator_names: int
    phases: tuple[Phase, ...] = ()
    steps: Steps | None = None
