"""Steps of a small Llama in a region: what regions of modules add to a step (modules_cost.py)."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2] / "tests" / "gpu" / "scripts"))

import models
import torch
from torch.profiler import record_function

model = models.Llama().to(models.DEVICE)
optimizer = torch.optim.AdamW(model.parameters())
batch = torch.randint(1000, (4, 128), device=models.DEVICE)
for _ in range(40):
    with record_function("step"):
        optimizer.zero_grad()
        model(batch).sum().backward()
        optimizer.step()
        if models.DEVICE == "cuda":
            torch.cuda.synchronize()
