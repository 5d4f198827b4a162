"""A loop in a region, and a clean-up after it."""

import torch
from torch.profiler import record_function

data = torch.ones(8)
try:
    while True:
        with record_function("step"):
            data = data * 2 / 2
finally:
    print("cleaned up", flush=True)
