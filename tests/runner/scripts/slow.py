"""Calls that take a while each. After ten it makes the file that its argument names, if there is one."""

import itertools
import pathlib
import sys
import time

import torch
from torch.profiler import record_function

for number in itertools.count():
    with record_function("slow"):
        torch.ones(8) + 1
        time.sleep(0.15)
    if number == 10 and sys.argv[1:]:
        pathlib.Path(sys.argv[1]).touch()
