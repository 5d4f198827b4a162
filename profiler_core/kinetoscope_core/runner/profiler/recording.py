"""Our own torch.profiler: starting it, the throw-away launch, stopping it and exporting the trace.

torch is taken from `sys.modules`: the script has imported it, we never do.
"""

import contextlib
import functools
import os
import sys
import threading
import warnings
from time import sleep
from typing import Any, Dict, Generator, Iterable, List, Optional, Set, Tuple

from .kineto_messages import kineto_log_kept

_open = open  # as it was before the script, which may patch it
QUIET_S = 0.02
START_UP_REGION = "kinetoscope: start-up launch"
"""The annotation around the throw-away launch, so that the trace says what that kernel is."""


class Profiler:
    """One profiler of ours, started and stopped once. `is_ours` tells its objects from the script's.

    Where torch can record all threads (2.7 and newer) any thread may stop it, so a script that is stuck in a call loses
    nothing (tried on 2.11 and 2.13); before that only the thread that started it can.
    """

    def __init__(self, folder: str) -> None:
        self.folder = folder
        self.failures: List[str] = []
        self.records_cuda = False
        self.records_all_threads = False
        self.was_quietened = False
        self._profile: Any = None
        self._starting_thread = 0
        self._busy_thread = 0
        self._lock = threading.Lock()

    def is_ours(self, profile: Any) -> bool:
        """Whether this profile object was made by us; asked by the hooks that watch for the script's own."""
        return profile is self._profile or self._busy_thread == threading.get_ident()

    @staticmethod
    def can_start_here() -> bool:
        """Before torch 2.7 only the main thread's regions are recorded, and only it could stop the profiler at last."""
        if threading.current_thread() is threading.main_thread():
            return True
        return tuple(int(part) for part in sys.modules["torch"].__version__.split(".")[:2]) >= (2, 7)

    def can_stop_here(self) -> bool:
        return self.records_all_threads or self._starting_thread == threading.get_ident()

    def start(self) -> None:
        """Starts recording, then launches something, which takes the wait for the profiler's first buffer."""
        torch = sys.modules["torch"]
        self._busy_thread = self._starting_thread = threading.get_ident()
        try:
            with kineto_log_kept(self.failures, self.folder), warnings_ignored():
                self.records_cuda = torch.cuda.is_available()
                self._profile, self.records_all_threads = make_profile(torch, records_cuda=self.records_cuda)
                if self.records_cuda and torch.cuda.is_initialized():
                    torch.cuda.synchronize()
                with inductor_left_alone(torch):
                    self._profile.start()
                if self.records_cuda and torch.cuda.is_initialized():
                    _launch_and_wait(torch)
        finally:
            self._busy_thread = 0

    def _quieten(self, profile: Any) -> None:
        """Lets no new operator be recorded, and those that are, end. Only then may the profiler be stopped.

        Stopped while other threads are in operators, torch 2.7 to 2.13 can corrupt memory: 10 of 22 processes with
        three busy threads and 20 recordings each died on 2.13, none with this pause (pytorch #187483, fixed in 2.14).
        """
        if self.records_all_threads:
            activity = sys.modules["torch"].profiler.ProfilerActivity
            profile.toggle_collection_dynamic(False, [activity.CPU])
            self.was_quietened = True
            sleep(QUIET_S)

    def stop_and_export(self, path: str) -> bool:
        """Stops and writes the trace, once; False if another thread has done so. Raises OSError without a file."""
        with self._lock:
            profile, self._profile = self._profile, None
            if profile is None:
                return False
            self._busy_thread = threading.get_ident()
            try:
                with kineto_log_kept(self.failures, self.folder), warnings_ignored():
                    if not _is_alone():
                        self._quieten(profile)
                    profile.stop()
                    profile.export_chrome_trace(path)
            finally:
                self._busy_thread = 0
        if not _is_whole(path):
            raise OSError(f"torch.profiler wrote no whole trace to {path}; is the disk full?")
        return True


def _is_whole(path: str) -> bool:
    """Whether the file is there and ends as a trace does: Kineto says nothing of a disk that is full."""
    try:
        with _open(path, "rb") as file:
            file.seek(-min(64, os.path.getsize(path)), os.SEEK_END)
            return file.read().rstrip().endswith(b"}")
    except OSError:
        return False


def make_profile(torch: Any, *, records_cuda: bool) -> Tuple[Any, bool]:
    """A `torch.profiler.profile` as we use it, and whether it records all threads."""
    activity = torch.profiler.ProfilerActivity
    activities = [activity.CPU, activity.CUDA] if records_cuda else [activity.CPU]
    try:
        config = torch._C._profiler._ExperimentalConfig(profile_all_threads=True)
    except TypeError:  # torch before 2.7
        return torch.profiler.profile(activities=activities), False
    return torch.profiler.profile(activities=activities, experimental_config=config), True


class _LazyModules(Set[str]):
    """`torch._lazy_modules` without Inductor for the thread that makes it, as it was for others."""

    def __init__(self, names: Iterable[str]) -> None:
        super().__init__(names)
        self._thread = threading.get_ident()

    def __contains__(self, name: object) -> bool:
        return super().__contains__(name) and not (name == "_inductor" and threading.get_ident() == self._thread)


@contextlib.contextmanager
def inductor_left_alone(torch: Any) -> Generator[None, None, None]:
    """Around the start of a profiler, which asks Inductor whether it uses CUDA graphs, and so imports it.

    Those are 820 modules and 2 s of CPU time on torch 2.13, and a script that compiles nothing would find them. What is
    not imported uses no graphs, unless the environment says so.
    """
    names: Any = getattr(torch, "_lazy_modules", None)
    wanted = os.environ.get("TORCHINDUCTOR_CUDAGRAPHS") == "1" or "torch._inductor" in sys.modules
    if wanted or not isinstance(names, set):
        yield
        return
    torch._lazy_modules = _LazyModules(names)  # pyright: ignore[reportUnknownArgumentType]
    try:
        yield
    finally:
        torch._lazy_modules = names


def _is_alone() -> bool:
    """Whether only this thread can be in torch now: the main thread, with none beside it but the one that watches."""
    return threading.current_thread() is threading.main_thread() and threading.active_count() <= 2


def _launch_and_wait(torch: Any) -> None:
    """A kernel that takes no memory and no random number."""
    with torch.profiler.record_function(START_UP_REGION):
        torch.cuda._sleep(1000)
        torch.cuda.synchronize()


def set_profiler_enabled(is_enabled: bool) -> None:
    """Sets the flag by which Python code sees that a profiler records; torch itself sets it from then on."""
    module: Any = sys.modules.get("torch.autograd.profiler")
    if hasattr(module, "_is_profiler_enabled"):
        module._is_profiler_enabled = is_enabled


@contextlib.contextmanager
def warnings_ignored() -> Generator[None, None, None]:
    """`warnings.catch_warnings` would let each warning be shown a second time that a script is shown once."""
    everything: Any = ("ignore", None, Warning, None, 0)
    filters: List[Any] = warnings.filters  # type: ignore[assignment]
    filters.insert(0, everything)
    try:
        yield
    finally:
        with contextlib.suppress(ValueError):
            filters.remove(everything)


@functools.lru_cache(maxsize=None)
def device_names() -> Tuple[str, ...]:
    """Asked once, since it initialises CUDA."""
    cuda = sys.modules["torch"].cuda
    return tuple(cuda.get_device_name(index) for index in range(cuda.device_count()))


def device_facts() -> Dict[str, Any]:
    """The script's torch and GPUs, and why there is no GPU where there is none. Empty when torch was not imported."""
    torch: Optional[Any] = sys.modules.get("torch")
    if torch is None or not hasattr(torch, "cuda"):
        return {}
    facts: Dict[str, Any] = {
        "torch": str(torch.__version__),
        "cuda": torch.version.cuda or getattr(torch.version, "hip", None),
        "devices": [],
        "no_cuda_because": None,
        "is_used": torch.cuda.is_initialized(),
        "visible_devices": os.environ.get("CUDA_VISIBLE_DEVICES"),
    }
    with warnings_ignored():
        if facts["cuda"] is None:
            facts["no_cuda_because"] = f"torch {facts['torch']} is built without CUDA"
            return facts
        try:
            if torch.cuda.is_available():
                facts["devices"] = list(device_names())
                return facts
            torch.cuda.init()
            reason = "torch.cuda.is_available() is False"
        except Exception as error:
            reason = str(error).strip().splitlines()[0]
        if facts["visible_devices"] is not None:
            reason += f" (CUDA_VISIBLE_DEVICES={facts['visible_devices']!r})"
        facts["no_cuda_because"] = reason
    return facts
