"""A region that only waits, one that copies with pageable memory, one on two streams."""

import torch
from torch.profiler import record_function

a = torch.ones(4096, 4096, device="cuda")
host = torch.ones(1 << 20)
side = torch.cuda.Stream()
for _ in range(10):
    with record_function("launch"):
        for _ in range(5):
            a @ a
    with record_function("wait"):
        torch.cuda.synchronize()
    with record_function("copy"):
        host.cuda()
    with record_function("two streams"):
        b = a @ a
        with torch.cuda.stream(side):
            c = a @ a
    with record_function("item"):
        b.sum().item()
    torch.cuda.synchronize()
