"""CUDA's context, CUPTI and cuBLAS made ready ahead of a script, such that the script finds CUDA untouched.

An H200 takes 0.3 s for the context and 3.7 to 6.5 s for the first start of the profiler (torch 2.11). torch is made to
believe that CUDA is not initialised yet, and asks for it again when the script uses it.
"""

import contextlib
import os
import sys
from typing import Any, Callable, Generator, List, NoReturn

from ..output import low_descriptors_taken, output_held
from ..profiler.kineto_messages import kineto_log_kept
from ..profiler.recording import device_names, inductor_left_alone, make_profile, warnings_ignored
from . import variables
from .groups import NotPrepared
from .surroundings import KnownNames, put

SCRIPT_S_DESCRIPTORS = 200
_SIDE = 16

READ_LATER = ("NCCL_", "PYTORCH_NVML_BASED_CUDA_CHECK", "TORCH_NCCL_", "TRITON_")
"""Read each time by what was not used ahead: Lightning sets the second when it is imported."""


class PreparedInterpreterError(RuntimeError):
    """What the script does cannot be done in an interpreter that has used CUDA ahead of it."""

    def __init__(self, why: str) -> None:
        super().__init__(
            f"{why}, but in a prepared interpreter CUDA was already used. Run it again without preparation."
        )


def has_cuda(torch: Any) -> bool:
    """Whether there is a GPU to make ready."""
    with warnings_ignored(), low_descriptors_taken(SCRIPT_S_DESCRIPTORS):
        return bool(torch.version.cuda or torch.version.hip) and torch.cuda.is_available()


class _Asked(Exception):
    """torch asked for CUDA to be initialised."""


class Priming:
    """CUDA made ready. What the script may no longer do then raises `PreparedInterpreterError` in it.

    `tell(why)` is called as well, since a script may catch all exceptions and go on without the GPU.
    """

    def __init__(self, tell: Callable[[str], None]) -> None:
        self._tell = tell
        self._children_have_cuda = True

    def prime(self, torch: Any) -> None:
        """Uses CUDA. Raises `NotPrepared` where that is not possible, or where the script would see it."""
        environment = KnownNames((), [os.environ])
        cuda = torch.cuda
        queued = list(cuda._queued_calls)
        generator = torch.get_rng_state()
        failures: List[str] = []
        written: List[str] = []
        try:
            with output_held(written), low_descriptors_taken(SCRIPT_S_DESCRIPTORS), kineto_log_kept(failures):
                _use(torch)
        except Exception as error:
            raise NotPrepared(f"CUDA cannot be prepared: {type(error).__name__}: {error}") from error
        for line in [*failures, *written]:
            raise NotPrepared(f"CUDA or the profiler cannot be prepared: {line}")
        if not generator.equal(torch.get_rng_state()):
            raise NotPrepared("preparing CUDA draws random numbers")
        self._seen_by_cuda = variables.actual()
        for holder, name, before, _ in environment.changes():
            put(holder, name, before)
        cuda._queued_calls[:] = [*queued, (self._note_use, ["by Kinetoscope"])]
        cuda._initialized = False
        cuda._cached_device_count = None
        _check_that_torch_asks(torch)
        self._torch = torch

    def watch(self) -> None:
        """From here on the script runs."""
        self._count_devices = self._torch._C._cuda_getDeviceCount
        self._torch._C._cuda_getDeviceCount = self._note_question
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(after_in_child=self._look_after_child)

    def _note_use(self) -> None:
        """Called by torch when the script first uses CUDA."""
        self._check_variables()
        self._children_have_cuda = False

    def _note_question(self) -> int:
        """In place of torch's own: from the first question for GPUs on, it lets no child use CUDA."""
        self._check_variables()
        self._children_have_cuda = False
        self._torch._C._cuda_getDeviceCount = self._count_devices
        count: int = self._count_devices()
        return count

    def _check_variables(self) -> None:
        names = variables.differing(self._seen_by_cuda, variables.actual(), frozenset(), variables.OF_TORCH)
        names = [name for name in names if not name.startswith(READ_LATER)]
        if names:
            self._fail(f"The script sets {', '.join(names)} before it uses CUDA")

    def _look_after_child(self) -> None:
        """A child may use CUDA if its parent has not, but here the parent has. Most children, as those of a DataLoader,
        do not use it; to them it looks as if they could.
        """
        if self._children_have_cuda:
            self._torch.cuda._is_in_bad_fork = self._is_in_bad_fork

    def _is_in_bad_fork(self) -> bool:
        if sys._getframe(1).f_code.co_name == "_lazy_init":
            self._fail("A process that the script forks uses CUDA")
        return False

    def _fail(self, why: str) -> NoReturn:
        error = PreparedInterpreterError(why)
        self._tell(str(error))
        raise error


def _use(torch: Any) -> None:
    cuda = torch.cuda
    with warnings_ignored(), _unseen_synchronize(torch):
        cuda.init()
        _multiply_profiled(torch)
    cuda.empty_cache()
    torch._C._cuda_resetPeakMemoryStats(0)
    torch._C._cuda_resetAccumulatedMemoryStats(0)
    device_names()


@contextlib.contextmanager
def _unseen_synchronize(torch: Any) -> Generator[None, None, None]:
    """The profiler synchronises when it stops; by torch's function it would ask which device is the current one.

    Whatever asks that (or enters `torch.cuda.device`) tells torch's C++ half, for good, that CUDA is in use. On 2.11
    `reset_peak_memory_stats()` and `synchronize()` do; `init()`, `get_device_name(0)` and `empty_cache()` do not.
    """
    synchronize = torch.cuda.synchronize
    torch.cuda.synchronize = torch._C._cuda_synchronize
    try:
        yield
    finally:
        torch.cuda.synchronize = synchronize


def _multiply_profiled(torch: Any) -> None:
    # Not torch.empty: what is called from Python tells torch's C++ half, for good, that CUDA is in use.
    matrix = torch.ops.aten.empty.memory_format([_SIDE, _SIDE], dtype=torch.bfloat16, device=torch.device("cuda"))
    torch.ops.aten.mm.default(matrix, matrix)
    profile, _ = make_profile(torch, records_cuda=True)
    with inductor_left_alone(torch), profile:
        torch.ops.aten.mm.default(matrix, matrix)
        torch.cuda.synchronize()
    torch._C._cuda_clearCublasWorkspaces()


def _check_that_torch_asks(torch: Any) -> None:
    """Else seeds that are set before CUDA is used would never reach it, and `_note_use` would never be called."""
    lazy_init = torch.cuda._lazy_init

    def ask() -> None:
        raise _Asked

    torch.cuda._lazy_init = ask
    try:
        torch.empty(0, device="cuda")
    except _Asked:
        return
    finally:
        torch.cuda._lazy_init = lazy_init
    raise NotPrepared("this version of torch does not allow to prepare CUDA without a trace")
