"""Warnings as errors, and warnings that Python shows once for each place."""

import os
import sys
import warnings

import torch
from torch.profiler import record_function

if len(sys.argv) > 1:
    warnings.simplefilter("error")
for step in range(9):
    with record_function("strict"):
        torch.ones(8) + 1
    if len(sys.argv) == 1:
        warnings.warn("shown once", UserWarning, stacklevel=1)
child = os.fork()
if child == 0:
    os._exit(0)
os.waitpid(child, 0)
print("no warning was an error")
