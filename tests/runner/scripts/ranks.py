"""Ranks that work together on gloo, as `ranks.py HOW`: started by torchrun or launch.py, else they are spawned."""

import os
import signal
import sys
import time

import torch
import torch.distributed as dist
import torch.multiprocessing as mp
from torch.profiler import record_function

STEPS = {"few": 12, "failing": 60, "killed": 60}


def work(rank, world, how):
    os.environ.setdefault("MASTER_ADDR", "127.0.0.1")
    dist.init_process_group("gloo", rank=rank, world_size=world)
    data = torch.ones(8)
    for step in range(STEPS.get(how, 20_000)):
        time.sleep(0.05 if how == "alone" else 0.002)
        if rank == 1 and how == "failing" and step == 20:
            raise ValueError("rank 1 has had it")
        if rank == 1 and how == "killed" and step == 20:
            os.kill(os.getpid(), signal.SIGKILL)
        if rank == 1 and how == "absent":
            dist.all_reduce(data)
            continue
        if step == 40 and "TOUCHED" in os.environ:
            open(os.environ["TOUCHED"], "w").close()
        for _ in range(1 + rank if how == "uneven" else 1):
            with record_function("forward"):
                data = data * 2 / 2
        with record_function("reduce"):
            dist.all_reduce(data)
        if rank == 0 and how == "alone" and step % 40 == 0:
            with record_function("log"):
                data.sum().item()
    dist.barrier()
    dist.destroy_process_group()
    print(f"rank {rank} came to its own end", flush=True)


if __name__ == "__main__":
    if "RANK" in os.environ:
        work(int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"]), sys.argv[1])
    else:
        os.environ["MASTER_PORT"] = sys.argv[2]
        mp.spawn(work, (2, sys.argv[1]), nprocs=2)
