"""Ten thousand calls, and numbered names."""

import torch
from torch.profiler import record_function

for _ in range(10_000):
    with record_function("often"):
        pass
for step in range(100):
    with record_function(f"step_{step}"):
        torch.ones(8) + 1
for _ in range(9):
    for layer in range(40):
        with record_function(f"layer_{layer}"):
            torch.ones(8) + 1
