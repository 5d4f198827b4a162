"""What this interpreter has to measure with, for `kinetoscope doctor`: torch, GPUs, and what the profiler records.

Imports torch, starts the profiler once as a run does, and on a GPU launches one kernel that takes no memory. What is
found is said step by step: who waits for it sees where a step hangs or ends the process.
"""

import json
import os
import sys
import tempfile
from importlib import import_module
from time import monotonic
from typing import Any, Dict

from .channel import Channel
from .ending.failures import missing_module
from .profiler.recording import Profiler, device_facts

REGION = "kinetoscope: doctor"
_open = open


def examine(channel: Channel) -> int:
    """Says `torch`, `devices` and `recorded`, each with how many seconds it took. Returns the exit code."""
    for event, step in (("torch", _torch), ("devices", _devices), ("recorded", _recorded)):
        began = monotonic()
        try:
            found = dict(step(), error=None)
        except BaseException as error:  # as a broken installation raises it
            found = {"error": "{}: {}".format(type(error).__name__, error), "missing": missing_module(error)}
        channel.send(event, seconds=monotonic() - began, **found)
        if found["error"] is not None:
            return 1
    return 0


def _torch() -> Dict[str, Any]:
    torch: Any = import_module("torch")
    return {"version": str(torch.__version__), "file": getattr(torch, "__file__", None)}


def _devices() -> Dict[str, Any]:
    facts = device_facts()
    return {name: facts[name] for name in ("cuda", "devices", "no_cuda_because", "visible_devices")}


def _recorded() -> Dict[str, Any]:
    torch: Any = sys.modules["torch"]
    import_module("torch.profiler")
    if torch.cuda.is_available():
        torch.cuda.init()
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "trace.json")
        profiler = Profiler(folder)
        profiler.start()
        with torch.profiler.record_function(REGION):
            torch.ones(1).add(1)
        profiler.stop_and_export(path)
        with _open(path, encoding="utf-8", errors="replace") as file:
            events = json.load(file)["traceEvents"]
    kinds = {event.get("cat") for event in events}
    names = {event.get("name") for event in events}
    return {
        "cpu": REGION in names and "cpu_op" in kinds,
        "gpu": "kernel" in kinds if profiler.records_cuda else None,
        "failures": profiler.failures,
    }
