"""An endless loop, and a region that it never reaches."""

import torch
from torch.profiler import record_function

step = 0
while True:
    step += 1
    with record_function("step"):
        torch.ones(8) + 1
    if step < 0:
        with record_function("never"):
            torch.ones(8) + 1
