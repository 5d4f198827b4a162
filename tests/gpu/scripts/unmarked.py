"""Work on the GPU that nothing marks. The devices are chosen after the import of torch, as many scripts do."""

import os

import torch

os.environ.setdefault("CUDA_VISIBLE_DEVICES", "0")
a = torch.ones(256, 256, device="cuda")
for _ in range(20):
    a = torch.relu(a @ a / 256)
torch.cuda.synchronize()
print(f"{torch.cuda.device_count()} device")
