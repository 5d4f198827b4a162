"""A region around compiled code, one inside of it, and one in code for TorchScript."""

import warnings

import torch
from torch.profiler import record_function

warnings.simplefilter("ignore")


@torch.compile(backend="eager", fullgraph=True)
def inside(x):
    with record_function("inside compiled code"):
        return x * 2 + 1


@torch.jit.script
def scripted(x: torch.Tensor) -> torch.Tensor:
    with record_function("in TorchScript"):
        return x * 2 + 1


x = torch.ones(8)
for _ in range(4):
    with record_function("around"):
        y = inside(x)
    z = scripted(x)
print(y.sum().item(), z.sum().item())
