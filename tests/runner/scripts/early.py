"""An endless loop that is ended early: what must still run."""

import atexit
import contextlib

import torch
from torch.profiler import record_function


@contextlib.contextmanager
def cleaned_up():
    try:
        yield
    finally:
        print("context closed", flush=True)


atexit.register(print, "atexit wrote this")
try:
    with cleaned_up():
        while True:
            with record_function("loop"):
                torch.ones(8) + 1
finally:
    print("finally ran")
