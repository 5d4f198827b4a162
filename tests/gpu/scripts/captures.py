"""Every fourth step captures a CUDA graph; all replay it."""

import torch
from torch.profiler import record_function

x = torch.randn(256, 256, device="cuda")


def work():
    y = x
    for _ in range(20):
        y = torch.relu(y @ x)
    return y


stream = torch.cuda.Stream()
with torch.cuda.stream(stream):
    work()
torch.cuda.synchronize()
graph = None
for step in range(12):
    with record_function("step"):
        if step % 4 == 0:
            with record_function("capture"):
                graph = torch.cuda.CUDAGraph()
                with torch.cuda.graph(graph):
                    work()
        graph.replay()
    with record_function("replay"):
        graph.replay()
torch.cuda.synchronize()
