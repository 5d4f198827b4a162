"""What the region log adds to one call through an empty region, in one process: nothing else is between the two.

    python benchmarks/region_log.py

Processes differ from each other by more than the log costs (measuring_cost.py shows their range), so here the same one
is timed before and after the hook. "waiting": for another region; "measuring": profiler on and every entry noted.
"""

import statistics
import sys
import time

import torch
from torch.profiler import ProfilerActivity, profile, record_function

from kinetoscope_core.runner.channel import Channel
from kinetoscope_core.runner.session import Session

PASSES, BATCHES = 500, 40
REQUEST = {
    "folder": "",
    "run_id": "",
    "warmup": 0,
    "active": 1,
    "to_the_end": True,
    "budget_s": 1e9,
    "focus_name": "another",
    "focus_places": [],
    "known_places": [],
}


def batch() -> float:
    start = time.perf_counter_ns()
    for _ in range(PASSES):
        with record_function("empty"):
            pass
    return (time.perf_counter_ns() - start) / PASSES


def ns_per_call() -> str:
    times = sorted(batch() for _ in range(BATCHES))
    return f"{statistics.median(times):8.0f}  ({times[BATCHES // 10]:.0f} to {times[-BATCHES // 10]:.0f})"


def profiled() -> str:
    activities = [ProfilerActivity.CPU] + ([ProfilerActivity.CUDA] if torch.cuda.is_available() else [])
    with profile(activities=activities):
        return ns_per_call()


if __name__ == "__main__":
    print("An empty region, ns per call: medians of batches, and their 10th to 90th percentile")
    print(f"  plain, no profiler       {ns_per_call()}")
    print(f"  plain, profiler on       {profiled()}")
    session = Session(Channel(None), REQUEST, set(sys.modules))
    session._log.hook(sys.modules["torch.autograd.profiler"])  # noqa: SLF001 - the log alone, without its run
    print(f"  hooked, waiting          {ns_per_call()}")
    session._log.is_recording = True  # noqa: SLF001
    session._state = "open"  # noqa: SLF001
    print(f"  hooked, measuring        {profiled()}")
