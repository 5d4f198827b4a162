from types import SimpleNamespace

from ..autograd.profiler import record_function  # noqa: F401
from .profiler import profile  # noqa: F401

ProfilerActivity = SimpleNamespace(CPU="ProfilerActivity.CPU", CUDA="ProfilerActivity.CUDA")
