"""The same small region while the GPU is busy with another one's work, and alone."""

import torch
from torch.profiler import record_function

large = torch.randn(4096, 4096, device="cuda")
small = torch.randn(64, 64, device="cuda")
stream = torch.cuda.Stream()


def few():
    for _ in range(30):
        torch.relu(small @ small)


for _ in range(10):
    with record_function("large"), torch.cuda.stream(stream):
        for _ in range(6):
            large @ large
    with record_function("small while busy"):
        few()
    torch.cuda.synchronize()
    with record_function("small alone"):
        few()
    torch.cuda.synchronize()
