"""A pool of two workers, forked or spawned as the argument says; regions are entered in them alone."""

import multiprocessing
import sys
from concurrent.futures import ProcessPoolExecutor

import torch
from torch.profiler import record_function


def work(calls):
    data = torch.ones(8)
    for _ in range(calls):
        with record_function("in a worker"):
            data = data * 2 / 2
    return calls


if __name__ == "__main__":
    with ProcessPoolExecutor(2, mp_context=multiprocessing.get_context(sys.argv[1])) as pool:
        print(*pool.map(work, [20, 30]))
