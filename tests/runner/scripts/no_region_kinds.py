"""Loops without a region that the source shows, of each kind."""

import sys

import torch
from torch.utils.data import DataLoader

kind, times = sys.argv[1], int(sys.argv[2])
model = torch.nn.Linear(8, 8)
data = torch.ones(4 * times, 8)


def train(batches):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for batch in batches:
        optimizer.zero_grad()
        model(batch).sum().backward()
        optimizer.step()


if kind == "no loader":
    train(torch.ones(4, 8) for _ in range(times))
elif kind == "inference":
    for batch in DataLoader(data, batch_size=4):
        model(batch)
elif kind == "accumulation":
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for number, batch in enumerate(DataLoader(data, batch_size=4)):
        model(batch).sum().backward()
        if number % 3 == 2:
            optimizer.step()
elif kind == "hidden region":
    region = getattr(torch.profiler, "record_" + "function")
    for batch in DataLoader(data, batch_size=4):
        with region("hidden"):
            model(batch)
elif kind in ("own profiler", "own profiler with stacks"):
    with torch.profiler.profile(with_stack=kind.endswith("stacks")) as profile:
        train(DataLoader(data, batch_size=4))
    profile.export_chrome_trace(sys.argv[3])
elif kind == "profiler later":
    for batch in DataLoader(data[:8], batch_size=4):
        model(batch)
    with torch.profiler.profile() as profile:
        train(DataLoader(data, batch_size=4))
    print([each.key for each in profile.key_averages() if each.key.startswith("ProfilerStep")])
elif kind == "plain":
    for _ in range(times):
        model(data)
print("done")
