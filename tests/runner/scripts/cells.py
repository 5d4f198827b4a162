# %% [markdown]
# A script of cells: ranges that are no regions, a mode that makes crossing ranges, and a loop that waits for its data.

# %%
import contextlib
import time

import torch
from torch.profiler import itt, record_function
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils.data import DataLoader, Dataset

w = torch.randn(64, 64)


# %%
@contextlib.contextmanager
def nvtx_range(name):
    if torch.cuda.is_available():
        torch.cuda.nvtx.range_push(name)
    try:
        yield
    finally:
        if torch.cuda.is_available():
            torch.cuda.nvtx.range_pop()


class Count(TorchDispatchMode):
    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        return func(*args, **(kwargs or {}))


class Slow(Dataset):
    def __len__(self):
        return 64

    def __getitem__(self, i):
        time.sleep(0.004)
        return torch.randn(32)


# %%
model = torch.nn.Linear(32, 1)
batches = iter(DataLoader(Slow(), batch_size=8))
for _ in range(8):
    with nvtx_range("scores"), itt.range("of itt") if itt.is_available() else record_function("without itt"):
        w @ w
    with Count():
        with record_function("outer"):
            with record_function("mm"):
                y = w @ w
            with record_function("relu"):
                y.relu()
    with record_function("step"):
        with record_function("next_batch"):
            x = next(batches)
        with record_function("train"):
            model(x).sum().backward()

# %%
print("in a notebook" if globals().get("get_ipython") else "in a script")
