"""A DataLoader with workers before CUDA is used, and a variable as Lightning sets it."""

import os

import torch
from torch.profiler import record_function
from torch.utils.data import DataLoader, TensorDataset

os.environ["PYTORCH_NVML_BASED_CUDA_CHECK"] = "1"
torch.manual_seed(1)
batches = list(DataLoader(TensorDataset(torch.randn(640, 32)), batch_size=32, num_workers=2))
print("loaded", len(batches))
model = torch.nn.Linear(32, 1).cuda()
for (batch,) in DataLoader(TensorDataset(torch.randn(640, 32)), batch_size=32, num_workers=2, pin_memory=True):
    with record_function("step"):
        loss = model(batch.cuda()).square().mean()
        loss.backward()
