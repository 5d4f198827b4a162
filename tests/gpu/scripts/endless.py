"""An endless loop of small kernels: its trace is large, and takes a while to save."""

import torch
from torch.profiler import record_function

x = torch.randn(256, device="cuda")
try:
    while True:
        with record_function("endless"):
            for _ in range(300):
                x = x * 1.0
finally:
    print("finally ran", flush=True)
