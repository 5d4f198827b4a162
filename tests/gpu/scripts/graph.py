"""A CUDA graph that is captured before any region, then replayed in one."""

import torch
from torch.profiler import record_function

x = torch.ones(512, 512, device="cuda")
stream = torch.cuda.Stream()
with torch.cuda.stream(stream):
    for _ in range(3):
        x @ x
torch.cuda.synchronize()
graph = torch.cuda.CUDAGraph()
with torch.cuda.graph(graph):
    y = x @ x
    z = y @ x + 1
for _ in range(12):
    with record_function("replay"):
        graph.replay()
    torch.cuda.synchronize()
