"""Endless calls of 300 small operators: a second of them is a trace of tens of megabytes."""

import torch
from torch.profiler import record_function

a = torch.ones(4)
while True:
    with record_function("step"):
        for _ in range(300):
            a = a * 0.5
