"""Regions in every shape: generators, recursion, decorators, ExitStack, methods, conditional and nested ones."""

import contextlib

import torch
from torch.profiler import record_function


def produce():
    for number in range(4):
        with record_function("across yield"):
            yield number


def abandoned():
    with record_function("abandoned"):
        yield 1
        yield 2


def recurse(depth):
    with record_function("recursion"):
        torch.ones(8) + 1
        if depth:
            recurse(depth - 1)


@record_function("decorated")
def decorated(depth=0):
    torch.ones(8) + 1
    if depth:
        decorated(depth - 1)


class Model:
    @record_function("method")
    def forward(self):
        return torch.ones(8) + 1

    @staticmethod
    @record_function("static")
    def helper():
        return torch.ones(8) + 1


for _ in range(4):
    for number in produce():
        torch.ones(8) + number
    recurse(2)
    decorated()
    Model().forward()
    Model.helper()
    with contextlib.ExitStack() as stack:
        stack.enter_context(record_function("stacked"))
        stack.enter_context(record_function("stacked too"))
        torch.ones(8) + 1
    with record_function("left"), record_function("right"):
        torch.ones(8) + 1
decorated(2)
kept = abandoned()
next(kept)
