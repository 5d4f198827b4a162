"""A megabyte on stdout, and lines on both streams in a known order."""

import sys

import torch
from torch.profiler import record_function

for step in range(4):
    with record_function("print"):
        torch.ones(8) + 1
        sys.stdout.buffer.write(bytes(range(256)) * 1024 + b"\n")
sys.stdout.flush()
for number in range(200):
    print("out", number, flush=True)
    print("err", number, file=sys.stderr, flush=True)
print("no newline at the end", end="")
