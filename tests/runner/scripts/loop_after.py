"""Fewer calls than wanted, then nothing but an endless loop."""

import torch
from torch.profiler import record_function

for _ in range(2):
    with record_function("before"):
        torch.ones(8) + 1
print("now it loops", flush=True)
while True:
    pass
