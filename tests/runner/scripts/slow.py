"""Passes that take a while each."""

import time

import torch
from torch.profiler import record_function

while True:
    with record_function("slow"):
        torch.ones(8) + 1
        time.sleep(0.15)
