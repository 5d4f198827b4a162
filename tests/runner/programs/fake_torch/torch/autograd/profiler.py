import os
import threading
import time
from json import dump
from os import getpid
from time import time_ns

open = open  # a script may patch these
recording = None
exported = []


class record_function:
    def __init__(self, name):
        self.name = name

    def __enter__(self):
        self.began = time_ns()
        return self

    def __exit__(self, *error):
        if recording is not None:
            recording.append((self.name, self.began, time_ns(), threading.get_native_id()))


class profile:
    def _prepare_trace(self):
        pass

    def _start_trace(self):
        pass

    def __exit__(self, *error):
        pass

    def export_chrome_trace(self, path):
        _wait_where_told()
        pid = getpid()
        base = 1_700_000_000_000_000_000
        events = [
            {
                "ph": "X", "cat": "user_annotation", "name": name, "pid": pid, "tid": thread,
                "ts": (began - base) / 1000, "dur": (ended - began) / 1000, "args": {},
            }
            for name, began, ended, thread in self.events
        ]  # fmt: skip
        trace = {"schemaVersion": 1, "baseTimeNanoseconds": base, "displayTimeUnit": "ms", "traceEvents": events}
        with open(path, "w") as file:
            dump(trace, file)
        exported.append(path)


def put_pipe():
    """Where it is told to, puts a pipe in the place of the trace that was exported last."""
    elsewhere = os.environ.get("FAKE_TORCH_ELSEWHERE")
    if elsewhere and exported:
        path = exported.pop()
        os.rename(path, elsewhere)
        os.mkfifo(path)


def _wait_where_told():
    told = os.environ.get("FAKE_TORCH_SAVING")
    if told:
        with open(told, "w"):
            pass
        while os.path.exists(told):
            time.sleep(0.01)
