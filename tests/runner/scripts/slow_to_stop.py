"""Its calls are short and stopping the profiler takes a second, so the script meets its end before the signal."""

import time

import torch
from torch.autograd import profiler
from torch.profiler import record_function

stop = profiler._disable_profiler


def stop_late():
    time.sleep(1)
    return stop()


profiler._disable_profiler = stop_late
while True:
    with record_function("slow"):
        torch.ones(8) + 1
        time.sleep(0.05)
