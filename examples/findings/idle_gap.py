"""Noise is made on the CPU in the middle of a step; changed: on the GPU."""

import torch
from timing import DEVICE, asked_to_change, run
from torch.profiler import record_function

is_changed = asked_to_change(__doc__)
x = torch.randn(4096, 4096, device=DEVICE)


def step() -> None:
    with record_function("diffuse"):
        noise = torch.randn(4096, 1024, device=DEVICE) if is_changed else torch.randn(4096, 1024).to(DEVICE)
        torch.add(x[:, :1024], noise).relu().sum()


run(step, steps=100)
