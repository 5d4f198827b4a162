"""Batches are copied from ordinary memory, and the CPU waits; changed: from pinned memory, without waiting."""

import torch
from timing import DEVICE, asked_to_change, run
from torch.profiler import record_function

is_changed = asked_to_change(__doc__)
batches = [torch.randn(64, 3, 224, 224) for _ in range(4)]
if is_changed and DEVICE == "cuda":
    batches = [batch.pin_memory() for batch in batches]
weights = torch.randn(224, 224, device=DEVICE)
number = 0


def step() -> None:
    global number  # noqa: PLW0603 - which batch comes next
    number += 1
    with record_function("load"):
        batch = batches[number % len(batches)].to(DEVICE, non_blocking=is_changed)
    with record_function("forward"):
        for _ in range(4):
            batch = torch.relu(batch @ weights)


run(step)
