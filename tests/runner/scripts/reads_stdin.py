"""Reads its input, inside a region and after it."""

import sys

import torch
from torch.profiler import record_function

with record_function("read"):
    torch.ones(8) + 1
    print("first:", input())
print("rest:", sys.stdin.read().split())
