"""The loss is read in every step, so that the GPU runs dry; changed: it is added up on the GPU."""

import torch
from timing import DEVICE, asked_to_change, run
from torch import nn
from torch.profiler import record_function

is_changed = asked_to_change(__doc__)
model = nn.Sequential(*(layer for _ in range(8) for layer in (nn.Linear(1024, 1024), nn.ReLU()))).to(DEVICE)
inputs = torch.randn(2048, 1024, device=DEVICE)
total = torch.zeros((), device=DEVICE)
seen = 0.0


def step() -> None:
    global seen  # noqa: PLW0603 - the sum of a whole epoch, as it is in many training loops
    with record_function("forward"), torch.inference_mode():
        loss = model(inputs).square().mean()
    with record_function("log"):
        if is_changed:
            total.add_(loss)
        else:
            seen += loss.item()


run(step)
print("sum of the losses:", seen + total.item())
