"""A thread that passes its region for ever, and a main thread that waits for it."""

import threading

import torch
from torch.profiler import record_function


def forever():
    while True:
        with record_function("worker"):
            torch.ones(8) + 1


thread = threading.Thread(target=forever)
thread.start()
thread.join()
