"""Training, or inference, of a small model without a region."""

import sys

import torch

model = torch.nn.Sequential(torch.nn.Linear(8, 8), torch.nn.ReLU(), torch.nn.Linear(8, 1))
ones = torch.ones(4, 8)
for step in range(12):
    if sys.argv[1] == "training":
        model(ones).sum().backward()
    else:
        with torch.no_grad():
            model(ones)
    print("step", step)
