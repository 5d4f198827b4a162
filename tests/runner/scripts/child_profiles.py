"""A forked child that profiles itself, while a profiler was on in the parent."""

import os

import torch
from torch.profiler import ProfilerActivity, profile, record_function

w = torch.randn(64, 64)
for i in range(30):
    with record_function("parent"):
        w @ w
    if i == 2:
        pid = os.fork()
        if pid == 0:
            with profile(activities=[ProfilerActivity.CPU]) as prof:
                with record_function("child"):
                    torch.ones(4) + 1
            print("child saw", sum(e.name == "child" for e in prof.events()), flush=True)
            os._exit(0)
        print("child's status", os.waitpid(pid, 0)[1], flush=True)
