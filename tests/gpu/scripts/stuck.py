"""Measures a little, then is stuck in one call."""

import time

import torch
from torch.profiler import record_function

a = torch.ones(256, 256, device="cuda")
for _ in range(5):
    with record_function("before"):
        a @ a
torch.cuda.synchronize()
print("stuck now", flush=True)
time.sleep(1000)
