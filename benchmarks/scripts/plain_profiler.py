"""The work of examples/matmul_add.py under plain torch.profiler: 3 passes unmeasured, 5 measured, trace to a file."""

import sys

import torch
from torch.profiler import ProfilerActivity, profile, record_function

size, path = int(sys.argv[1]), sys.argv[2]
device = "cuda" if torch.cuda.is_available() else "cpu"
x, w = (torch.randn(size, size, device=device, dtype=torch.bfloat16) for _ in range(2))
b = torch.randn(size, device=device, dtype=torch.bfloat16)


def one_pass() -> None:
    with record_function("matmul_add"):
        torch.add(torch.matmul(x, w), b)


activities = [ProfilerActivity.CPU] + ([ProfilerActivity.CUDA] if device == "cuda" else [])
with profile(activities=activities) as prof:
    for _ in range(8):
        one_pass()
prof.export_chrome_trace(path)
