import torch
from torch.profiler import record_function

for _ in range(9):
    with record_function("ünïcode"):
        torch.ones(8) + 1
print("gelaufen é")
