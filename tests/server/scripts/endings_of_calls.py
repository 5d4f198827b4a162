"""Calls that end in three ways: by an exception, sometimes by one, and not at all while it is measured."""

import contextlib

import torch
from torch.profiler import record_function


def always(x: torch.Tensor) -> None:
    with record_function("always"):
        (x + 1).sum()
        raise KeyError("no such thing")


def sometimes(x: torch.Tensor, number: int) -> None:
    with record_function("sometimes"):
        (x + 1).sum()
        if number % 2:
            raise ValueError(number)


def each(x: torch.Tensor, number: int) -> None:
    for call in (lambda: always(x), lambda: sometimes(x, number)):
        with contextlib.suppress(KeyError, ValueError):
            call()


if __name__ == "__main__":
    with record_function("training"):
        for number in range(1000):
            each(torch.ones(8), number)
