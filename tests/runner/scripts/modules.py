"""A model without a region: nested, with layers, shared, called in parts, recursive, in threads, failing."""

import sys
import threading

import torch
from torch import nn

ONES = torch.ones(2, 8)


class Inner(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(8, 8)

    def forward(self, x):
        return self.linear(x)


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = Inner()
        self.norm = nn.LayerNorm(8)

    def forward(self, x):
        return self.norm(self.inner(x))


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList([Block() for _ in range(3)])
        self.tail = nn.Sequential(nn.Linear(8, 8), nn.ReLU(), nn.Linear(8, 8))
        self.again = self.layers[0]

    def forward(self, x):
        for layer in self.layers:
            x = layer(x)
        return self.tail(self.again(x))


class Recursive(nn.Module):
    def forward(self, x, depth=2):
        return self(x, depth - 1) if depth else x


class Fails(nn.Module):
    def forward(self, x):
        raise ValueError("no")


class Deep(nn.Module):
    def __init__(self, depth, width):
        super().__init__()
        for number in range(width):
            setattr(self, f"part_{'abcdefgh'[number]}", Deep(depth - 1, width) if depth else nn.Identity())

    def forward(self, x):
        for child in self.children():
            x = child(x)
        return x


def plain():
    model = Net()
    for _ in range(9):
        model(ONES).sum().backward()


def parts():
    model = Net()
    for _ in range(9):
        model(ONES)
        model.layers[1](ONES)


def recursive():
    model = Recursive()
    for _ in range(9):
        model(ONES)


def failing():
    model, failing = Net(), Fails()
    for _ in range(9):
        try:
            nn.Sequential(model, failing)(ONES)
        except ValueError:
            model(ONES)


def handled():
    """Called while an exception is handled, which is no failure of the module."""
    model = Inner()
    for _ in range(9):
        try:
            raise KeyError("other")
        except KeyError:
            model(ONES)


def interrupted():
    """KeyboardInterrupt calls no hook: what it left open is closed with what is around."""

    class Stops(nn.Module):
        def forward(self, x):
            raise KeyboardInterrupt

    class Around(nn.Module):
        def __init__(self):
            super().__init__()
            self.stops = Stops()

        def forward(self, x):
            try:
                self.stops(x)
            except KeyboardInterrupt:
                return x

    model = Around()
    for _ in range(9):
        model(ONES)


def threads():
    model = Net()

    def work():
        for _ in range(12):
            model(ONES)

    workers = [threading.Thread(target=work) for _ in range(2)]
    for each in workers:
        each.start()
    for each in workers:
        each.join()


def deep():
    model = Deep(3, 5)
    for _ in range(9):
        model(ONES)


def collected():
    """Models that come and go leave nothing behind, and their names are not another's."""
    for _ in range(20):
        Net()(ONES)
        nn.Sequential(nn.ReLU())(ONES)


def marked():
    """By a region that the source does not tell of, which no other of these is to wait for."""
    region = vars(torch.profiler)["record_function"]
    model = Net()
    for _ in range(9):
        with region("step"):
            model(ONES)


def none():
    for _ in range(9):
        ONES @ ONES.T


if __name__ == "__main__":
    globals()[sys.argv[1]]()
