"""Stands in for torch where a run's end is tested: it records regions and nothing else, and is imported in no time.

`FAKE_TORCH_SAVING` names a file that is made when a trace begins to be saved, which then waits until it is removed.
"""

from types import SimpleNamespace

__version__ = "2.13.0+fake"
version = SimpleNamespace(cuda=None, hip=None)
cuda = SimpleNamespace(is_available=lambda: False, is_initialized=lambda: False)
_C = SimpleNamespace(_profiler=SimpleNamespace(_ExperimentalConfig=lambda **_: None))

from . import autograd, profiler  # noqa: E402, F401
