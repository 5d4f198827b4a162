"""Regions on a daemon thread, on one that outlives the main thread, and on an executor that nobody shuts down."""

import threading
from concurrent.futures import ThreadPoolExecutor

import torch
from torch.profiler import record_function


def passes(name, count):
    for _ in range(count):
        with record_function(name):
            torch.ones(8) + 1


def outlives():
    threading.main_thread().join()
    passes("outlives main", 5)


daemon = threading.Thread(target=passes, args=("daemon", 4), daemon=True)
daemon.start()
daemon.join()
threading.Thread(target=outlives).start()
pool = ThreadPoolExecutor(2)
pool.submit(passes, "pool", 6)
passes("main", 3)
print("main is done")
