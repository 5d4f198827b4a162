"""Says where it is, so that it can be stopped there. The first argument is where it stays."""

import sys
import time

where = sys.argv[1]


def stay(place):
    if where == place:
        print("now:", place, file=sys.stderr, flush=True)
        time.sleep(1000)


try:
    stay("before torch")
    import torch
    from torch.profiler import record_function

    stay("before any region")
    for number in range(5):
        with record_function("work"):
            torch.ones(8) + 1
            if number == 4:
                stay("in a region")
    stay("after some regions")
    if where == "stubborn":
        while True:
            try:
                stay("stubborn")
            except BaseException:
                print("I stay", file=sys.stderr, flush=True)
    for _ in range(20):
        with record_function("work"):
            torch.ones(8) + 1
finally:
    print("finally ran", file=sys.stderr, flush=True)
