"""Started processes, one in a session of its own, when the end comes from outside."""

import subprocess
import sys
import time

import torch
from torch.profiler import record_function

sleep = [sys.executable, "-c", "import signal, time; signal.signal(signal.SIGINT, signal.SIG_IGN); time.sleep(1000)"]
with record_function("starts"):
    torch.ones(8) + 1
    subprocess.Popen(sleep)
    subprocess.Popen(sleep, start_new_session=True)
print("all are started", file=sys.stderr, flush=True)
time.sleep(1000)
