"""Two regions, endlessly."""

import torch
from torch.profiler import record_function

number = 0
while True:
    number += 1
    with record_function("first"):
        torch.ones(8) + 1
    with record_function(f"second_{number % 2}"):
        torch.ones(8) + 1
