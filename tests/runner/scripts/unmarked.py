"""Operators that nothing marks, as the source shows it."""

import multiprocessing
import sys
import time

import torch

kind = sys.argv[1]
a = torch.ones(64, 64)


def work(times):
    for _ in range(times):
        torch.relu(a @ a)


def worker():
    until = time.monotonic() + 8
    while time.monotonic() < until:
        work(10)


if kind == "some":
    work(7)
elif kind == "without end":
    while True:
        work(1)
elif kind == "hidden region":
    work(7)
    region = getattr(torch.autograd, "pro" + "filer").__dict__["record_" + "function"]
    for _ in range(20):
        with region("hidden"):
            work(1)
elif kind == "hidden steps":
    work(7)
    model = torch.nn.Linear(64, 64)
    steps = getattr(torch, "op" + "tim").SGD(model.parameters(), lr=0.1)
    for _ in range(20):
        model(a).sum().backward()
        steps.step()
elif kind == "starts another":
    process = multiprocessing.get_context("spawn").Process(target=worker)
    if __name__ == "__main__":
        process.start()
        process.join()
print("done")
