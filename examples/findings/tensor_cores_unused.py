"""A network in fp32; changed: its products are allowed to be TF32."""

import torch
from timing import DEVICE, asked_to_change, run
from torch import nn
from torch.profiler import record_function

if asked_to_change(__doc__):
    torch.set_float32_matmul_precision("high")
model = nn.Sequential(*(layer for _ in range(4) for layer in (nn.Linear(4096, 4096), nn.ReLU()))).to(DEVICE)
inputs = torch.randn(2048 if DEVICE == "cuda" else 16, 4096, device=DEVICE)


def step() -> None:
    with record_function("forward"), torch.inference_mode():
        model(inputs)


run(step, steps=100)
