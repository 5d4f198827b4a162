"""Subprocesses: one that ends, one left running, one left in a session of its own; and a child by os.fork."""

import os
import subprocess
import sys

import torch
from torch.profiler import record_function

sleep = [sys.executable, "-c", "import time; time.sleep(1000)"]
for _ in range(9):
    with record_function("parent"):
        torch.ones(8) + 1
    if _ == 0:
        print(
            subprocess.run(["echo", "child says"], capture_output=True, text=True, check=True).stdout,
            end="",
            flush=True,
        )
        subprocess.Popen(sleep)
        subprocess.Popen(sleep, start_new_session=True)
        child = os.fork()
        if child == 0:
            with record_function("in the child"):
                torch.ones(8) + 1
            sys.exit(7)
        print("child ended with", os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)
