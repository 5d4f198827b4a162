"""Two calls of a region, then the ending that the first argument names."""

import atexit
import ctypes
import os
import sys

import torch
from torch.profiler import record_function

how = sys.argv[1]
atexit.register(print, "atexit ran")
if how == "segfault at exit":
    atexit.register(ctypes.string_at, 0)


def work():
    with record_function("work"):
        torch.ones(8) + 1
        if how == "raise inside":
            raise ValueError("inside\nof the region")
        if how == "_exit inside":
            os._exit(5)
        if how == "segfault inside":
            ctypes.string_at(0)


try:
    work()
    work()
    if how == "never":
        with record_function("not reached"):
            pass
finally:
    print("finally ran", flush=True)

if how == "raise after":
    try:
        {}["key"]
    except KeyError as error:
        raise RuntimeError("after the region é 训练") from error
if how == "exit 0":
    sys.exit(0)
if how == "exit 3":
    sys.exit(3)
if how == "exit text":
    sys.exit("no more of this")
if how == "exit -1":
    sys.exit(-1)
if how == "_exit after":
    os._exit(0)
if how == "interrupt":
    raise KeyboardInterrupt
if how == "execv":
    sys.stdout.flush()
    os.execv(sys.executable, [sys.executable, "-c", "print('another program')"])
if how == "execv fails":
    try:
        os.execv("/nowhere", ["nowhere"])
    except OSError as error:
        print("went on:", error.strerror)
if how == "excepthook":

    def hook(kind, error, traceback):
        print("my hook:", error, file=sys.stderr)
        raise TypeError("the hook itself")

    sys.excepthook = hook
    raise ValueError("for the hook")
