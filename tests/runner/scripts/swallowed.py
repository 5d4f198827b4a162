"""A loop that swallows everything, and never ends by itself."""

import torch
from torch.profiler import record_function

swallowed = 0
while True:
    try:
        with record_function("loop"):
            torch.ones(8) + 1
    except:
        swallowed += 1
        if swallowed == 1:
            print("swallowed", flush=True)
