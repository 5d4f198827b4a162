"""Reloads torch's profiler, as notebooks and test suites do: its classes are new ones then."""

import importlib
import sys

import torch
import torch.profiler
from torch.profiler import record_function as first

with first("before"):
    torch.ones(8) + 1
importlib.reload(torch.autograd.profiler)
importlib.reload(torch.profiler.profiler)
importlib.reload(torch.profiler)
del sys.modules["torch.autograd.profiler"]
from torch.autograd.profiler import record_function as third  # noqa: E402

for _ in range(8):
    with first("of the first"):
        torch.ones(8) + 1
    with torch.profiler.record_function("reloaded"):
        torch.ones(8) + 1
    with third("imported anew"):
        torch.ones(8) + 1
    with torch._C._profiler._RecordFunctionFast("fast"):
        torch.ones(8) + 1
