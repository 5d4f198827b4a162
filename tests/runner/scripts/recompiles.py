"""Two regions whose code is compiled again for each new shape; in one of them that is known."""

import torch
from torch.profiler import record_function


@torch.compile(backend="eager", dynamic=False)
def scaled(x):
    return torch.relu(x) * 2 + 1


for size in range(1, 6):
    with record_function("compiles"):
        scaled(torch.ones(size))
    with record_function("known to"):  # kinetoscope: ignore[compiling]
        scaled(torch.ones(size, 2))
