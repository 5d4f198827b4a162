"""Options by argparse."""

import argparse

import torch
from torch.profiler import record_function

parser = argparse.ArgumentParser(description="adds")
parser.add_argument("--size", type=int, required=True)
parser.add_argument("rest", nargs="*")
options = parser.parse_args()
print(options)
for _ in range(10):
    with record_function("add"):
        torch.ones(options.size) + 1
