"""A DataLoader with forked workers."""

import torch
from torch.profiler import record_function
from torch.utils.data import DataLoader, Dataset


class Numbers(Dataset):
    def __len__(self):
        return 12

    def __getitem__(self, index):
        with record_function("item"):
            return torch.full((4,), float(index))


if __name__ == "__main__":
    total = 0.0
    for batch in DataLoader(Numbers(), batch_size=1, num_workers=2):
        with record_function("step"):
            total += batch.sum().item()
    print("total", total)
