"""Numbered steps without an end."""

import torch
from torch.profiler import record_function

step = 0
while True:
    step += 1
    with record_function(f"step_{step}"):
        torch.ones(8) + 1
