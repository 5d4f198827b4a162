"""Passes through an empty region and prints what one call takes, in ns: the median of 20 batches."""

import statistics
import sys
import time

import torch
from torch.profiler import ProfilerActivity, profile, record_function

PASSES = 500


def batch() -> float:
    start = time.perf_counter_ns()
    for _ in range(PASSES):
        with record_function("empty"):
            pass
    return (time.perf_counter_ns() - start) / PASSES


with_profiler = sys.argv[1] == "profiler"
if torch.cuda.is_available():
    torch.ones(1, device="cuda")
    activities = [ProfilerActivity.CPU, ProfilerActivity.CUDA]
else:
    activities = [ProfilerActivity.CPU]
if with_profiler:
    with profile(activities=activities):
        times = [batch() for _ in range(20)]
else:
    times = [batch() for _ in range(20)]
print("ns per call:", round(statistics.median(times)))
