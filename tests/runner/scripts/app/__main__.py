"""A folder, or a zip file, that is run as a program."""

import sys

import beside
import torch
from torch.profiler import record_function

print(__name__, repr(__package__), sys.argv[1:], beside.__name__)
for _ in range(9):
    with record_function("in an app"):
        torch.ones(8) + 1
