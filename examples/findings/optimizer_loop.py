"""AdamW over a hundred tensors, one by one; changed: in a fused kernel."""

import torch
from timing import DEVICE, asked_to_change, run
from torch.profiler import record_function

is_changed = asked_to_change(__doc__)
parameters = [torch.randn(128, 128, device=DEVICE, requires_grad=True) for _ in range(100)]
for parameter in parameters:
    parameter.grad = torch.randn_like(parameter)
how = {"fused": True} if is_changed else {"foreach": False}
optimizer = torch.optim.AdamW(parameters, **how)


def step() -> None:
    with record_function("optimizer"):
        optimizer.step()


run(step)
