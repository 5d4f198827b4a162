"""41 kernels, and one operator of the CPU that takes most of the time between them."""

import torch
from torch.profiler import record_function

x = torch.randn(512, 512, device="cuda")
for _ in range(10):
    with record_function("stalled"):
        for _ in range(20):
            x.mul_(1.0)
        torch.randn(2_000_000)
        for _ in range(20):
            x.add_(0.0)
        x.copy_(x)
torch.cuda.synchronize()
