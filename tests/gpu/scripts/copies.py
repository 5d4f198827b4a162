"""Regions whose GPU time is copies: from pinned and pageable memory, and on the device."""

import torch
from torch.profiler import record_function

pinned = torch.randn(16 << 20).pin_memory()
pageable = torch.randn(16 << 20)
here = torch.empty_like(pinned, device="cuda")
there = torch.empty_like(here)
for _ in range(10):
    with record_function("pinned up"):
        here.copy_(pinned, non_blocking=True)
    torch.cuda.synchronize()
    with record_function("pageable up"):
        here.copy_(pageable)
    with record_function("on the device"):
        for _ in range(20):
            there.copy_(here)
    torch.cuda.synchronize()
