"""multiprocessing by spawn, with a class of __main__ that is pickled."""

import multiprocessing
import pickle

import torch
from torch.profiler import record_function


class Point:
    def __init__(self, x):
        self.x = x


def double(point):
    with record_function("in a spawned process"):
        return Point(point.x * 2)


if __name__ == "__main__":
    print(pickle.loads(pickle.dumps(Point(3))).x, Point.__module__)
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        for _ in range(9):
            with record_function("map"):
                result = pool.map(double, [Point(4)])
    print(result[0].x)
