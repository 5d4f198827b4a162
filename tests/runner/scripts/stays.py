"""Stays in each state of a run's end until it is let go: `stays.py STATE FOLDER`, where `FOLDER/now` is made there.

With `FOLDER/stays` it stays in its clean-up, too; with `FOLDER/cuts` it closes all descriptors from 3 on there.
"""

import os
import sys
import time

import torch  # noqa: F401
from torch.profiler import record_function

state, folder = sys.argv[1], sys.argv[2]


def stay():
    open(os.path.join(folder, "now"), "w").close()
    ends = time.monotonic() + 60
    while not os.path.exists(os.path.join(folder, "go")) and time.monotonic() < ends:
        time.sleep(0.01)


def step():
    with record_function("step"):
        sum(range(100))


try:
    if state == "running":
        stay()
    for _ in range(7 if state == "recording" else 1000):
        step()
    if state == "recording":
        stay()
finally:
    if os.path.exists(os.path.join(folder, "cuts")):
        os.closerange(3, 1024)
    if state in ("leaving", "reading") or os.path.exists(os.path.join(folder, "stays")):
        stay()
    print("finally ran", flush=True)
