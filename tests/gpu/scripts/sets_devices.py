"""Hides the GPUs after torch was imported and before CUDA is used: a prepared CUDA would not see that."""

import os
import sys

import torch
from torch.profiler import record_function

print("before", flush=True)
if "hide" in sys.argv:
    os.environ["CUDA_VISIBLE" + "_DEVICES"] = ""
if "fork" in sys.argv and not os.fork():
    print("child:", torch.ones(2, device="cuda").sum().item(), flush=True)
    os._exit(0)
if "fork" in sys.argv:
    os.wait()
if "allocator" in sys.argv:
    library = torch.cuda.memory.CUDAPluggableAllocator.__name__
    try:
        torch.cuda.memory.change_current_allocator(torch.cuda.memory.CUDAPluggableAllocator("/none.so", "a", "b"))
    except (OSError, RuntimeError) as error:
        print(library, type(error).__name__, flush=True)
device = "cuda" if torch.cuda.is_available() else "cpu"
print("devices:", torch.cuda.device_count(), device, flush=True)
for _ in range(10):
    with record_function("step"):
        torch.ones(8, 8, device=device) @ torch.ones(8, 8, device=device)
