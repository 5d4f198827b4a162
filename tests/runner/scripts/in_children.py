"""The regions are in a process that the script starts."""

import subprocess
import sys

import torch
from torch.profiler import record_function

if "child" in sys.argv:
    for _ in range(10):
        with record_function("in a child"):
            torch.ones(8) + 1
else:
    subprocess.run([sys.executable, __file__, "child"], check=True)
