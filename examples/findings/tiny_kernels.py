"""A layer written in many element-wise operators; changed: compiled into one kernel."""

import torch
from timing import DEVICE, asked_to_change, run
from torch.profiler import record_function

is_changed = asked_to_change(__doc__)


def smooth(x: torch.Tensor) -> torch.Tensor:
    for _ in range(10):
        x = x * 0.9 + torch.tanh(x) * 0.1
    return x


smooth_it = torch.compile(smooth) if is_changed else smooth
x = torch.randn(1024, 256, device=DEVICE)


def step() -> None:
    with record_function("smooth"):
        smooth_it(x)


run(step)
