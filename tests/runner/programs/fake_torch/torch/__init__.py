"""Stands in for torch where a run's end is tested: it records regions and nothing else, and is imported in no time.

`FAKE_TORCH_SAVING` names a file that is made when a trace begins to be saved, which then waits until it is removed.
`FAKE_TORCH_ELSEWHERE` names a file to which a trace goes once it is saved: in its place is a pipe, of which who reads it
waits for a writer. It goes there when it is asked for the devices, which the runner does before it says that it has saved.
"""

from types import SimpleNamespace

__version__ = "2.13.0+fake"
version = SimpleNamespace(cuda=None, hip=None)
cuda = SimpleNamespace(is_available=lambda: False, is_initialized=lambda: bool(autograd.profiler.put_pipe()))
_C = SimpleNamespace(_profiler=SimpleNamespace(_ExperimentalConfig=lambda **_: None))

from . import autograd, profiler  # noqa: E402, F401
