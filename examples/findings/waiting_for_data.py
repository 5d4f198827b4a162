"""Samples are made in the training process; changed: in four worker processes that stay, pinned."""

import torch
from timing import DEVICE, asked_to_change, run
from torch import nn
from torch.profiler import record_function
from torch.utils.data import DataLoader, Dataset


class Images(Dataset[torch.Tensor]):
    def __len__(self) -> int:
        return 10_000

    def __getitem__(self, index: int) -> torch.Tensor:
        generator = torch.Generator().manual_seed(index)
        return torch.randn(3, 64, 64, generator=generator).clamp(-1, 1).flip(-1)


def main() -> None:
    is_changed = asked_to_change(__doc__)
    more = {"num_workers": 4, "persistent_workers": True, "pin_memory": DEVICE == "cuda"} if is_changed else {}
    batches = iter(DataLoader(Images(), batch_size=64, **more))
    model = nn.Sequential(nn.Flatten(), nn.Linear(3 * 64 * 64, 2048), nn.ReLU(), nn.Linear(2048, 10)).to(DEVICE)

    def step() -> None:
        with record_function("load"):
            batch = next(batches).to(DEVICE, non_blocking=is_changed)
        with record_function("forward"), torch.inference_mode():
            model(batch)

    run(step, steps=100)


if __name__ == "__main__":
    main()
