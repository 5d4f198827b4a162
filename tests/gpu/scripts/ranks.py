"""Ranks that train one model, as `torchrun ranks.py even|slow-host|slow-work`: NCCL where each has a GPU, else gloo."""

import os
import sys
import time

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel
from torch.profiler import record_function

how, rank, world = sys.argv[1], int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])
has_own = torch.cuda.device_count() >= world
torch.cuda.set_device(rank if has_own else 0)
dist.init_process_group("nccl" if has_own else "gloo")
model = DistributedDataParallel(nn.Sequential(nn.Linear(1024, 1024), nn.GELU(), nn.Linear(1024, 1024)).cuda())
optimizer = torch.optim.SGD(model.parameters(), 1e-3)
for _ in range(5_000):
    with record_function("data"):
        batch = torch.randn(256, 1024, device="cuda")
        if rank == 1 and how == "slow-host":
            time.sleep(0.01)
    with record_function("forward"):
        for _ in range(200 if rank == 1 and how == "slow-work" else 0):
            batch = batch @ model.module[0].weight.detach() / 32
        loss = model(batch).square().mean()
    with record_function("backward"):
        loss.backward()
    with record_function("optimizer"):
        optimizer.step()
        optimizer.zero_grad()
dist.destroy_process_group()
print("came to its own end")
