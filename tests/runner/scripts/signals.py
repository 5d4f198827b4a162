"""A handler of the script's own for the signal that cancels it."""

import signal
import sys
import time

import torch
from torch.profiler import record_function


def handler(number, frame):
    print("my handler got", signal.Signals(number).name, flush=True)
    sys.exit(0)


signal.signal(signal.SIGINT, handler)
for _ in range(2):
    with record_function("work"):
        torch.ones(8) + 1
print("waiting", flush=True)
time.sleep(1000)
