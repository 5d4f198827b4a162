"""Three threads that never leave torch alone, while the main one passes through a region."""

import threading

import torch
from torch.profiler import record_function

torch.set_num_threads(1)
device = "cuda" if torch.cuda.is_available() else "cpu"
a = torch.ones(64, 64, device=device)


def spin():
    while True:
        with record_function("busy"):
            a @ a


for _ in range(3):
    threading.Thread(target=spin, daemon=True).start()
while True:
    with record_function("main"):
        a @ a
