"""Two regions, one in the other, and one that is not reached."""

import torch
from torch.profiler import record_function


def step(x: torch.Tensor) -> torch.Tensor:
    with record_function("outer"):
        x = x + 1
        with record_function("inner"):
            x = x @ x
    return x


def never(x: torch.Tensor) -> torch.Tensor:
    with record_function("never"):
        return x


if __name__ == "__main__":
    x = torch.ones(8, 8)
    for _ in range(10):
        step(x)
    print("done")
