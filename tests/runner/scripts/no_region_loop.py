"""A training loop without a region. It writes what it did when (`time.time_ns`, the clock of the trace) into a file."""

import json
import sys
import time

import torch
from torch.utils.data import DataLoader, Dataset

times = {"data loading": [], "forward": [], "backward": [], "optimizer step": [], "rest": []}


class Slow(Dataset):
    def __len__(self):
        return 80

    def __getitem__(self, index):
        time.sleep(0.001)
        return torch.full((64,), float(index)), index % 8


def timed(name, function, *arguments):
    began = time.time_ns()
    result = function(*arguments)
    times[name].append((began, time.time_ns()))
    return result


def main(steps):
    model = torch.nn.Sequential(torch.nn.Linear(64, 256), torch.nn.ReLU(), torch.nn.Linear(256, 8))
    optimizer = torch.optim.AdamW(model.parameters())

    def loss_of(inputs, labels):
        return torch.nn.functional.cross_entropy(model(inputs), labels)

    batches = iter(())
    while len(times["rest"]) < steps:
        try:
            inputs, labels = timed("data loading", next, batches)
        except StopIteration:
            batches = iter(DataLoader(Slow(), batch_size=8))
            continue
        optimizer.zero_grad()
        loss = timed("forward", loss_of, inputs, labels)
        timed("backward", loss.backward)
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        timed("optimizer step", optimizer.step)
        timed("rest", time.sleep, 0.005)


try:
    main(int(sys.argv[2]))
finally:
    with open(sys.argv[1], "w") as file:
        json.dump(times, file)
