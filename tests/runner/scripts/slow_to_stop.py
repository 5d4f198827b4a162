"""Its calls are short and stopping the profiler takes a second, so the script meets its end before the signal.

After ten calls it makes the file that its argument names.
"""

import itertools
import pathlib
import sys
import time

import torch
from torch.autograd import profiler
from torch.profiler import record_function

stop = profiler._disable_profiler


def stop_late():
    time.sleep(1)
    return stop()


profiler._disable_profiler = stop_late
for number in itertools.count():
    with record_function("slow"):
        torch.ones(8) + 1
        time.sleep(0.05)
    if number == 10:
        pathlib.Path(sys.argv[1]).touch()
