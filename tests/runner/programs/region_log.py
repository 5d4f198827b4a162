"""The runner's region log on a stand-in for torch's module, in any Python from 3.9: prints what was logged as JSON.

The first argument is the runner's folder.
"""

import contextlib
import importlib.util
import json
import os
import sys
import threading
import types


def load_runner(folder):
    spec = importlib.util.spec_from_file_location(
        "runner", os.path.join(folder, "__init__.py"), submodule_search_locations=[folder]
    )
    sys.modules["runner"] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(sys.modules["runner"])


load_runner(sys.argv[1])
from runner.regions.log import RegionLogger  # noqa: E402


class RecordFunction(contextlib.ContextDecorator):
    """As torch's: one object for all calls of what it decorates."""

    seen = []

    def __init__(self, name):
        self.name = name

    def __enter__(self):
        RecordFunction.seen.append(self.name)
        return self

    def __exit__(self, kind, error, traceback):
        return None


torch_module = types.ModuleType("torch.autograd.profiler")
torch_module.__file__ = os.path.join(os.sep, "lib", "torch", "autograd", "profiler.py")
torch_module.record_function = RecordFunction
entered, left = [], []
log = RegionLogger(
    lambda region, call: entered.append((region.name, call)),
    lambda region, failed: left.append((region.name, failed)),
)
original = RecordFunction.__enter__
log.hook(torch_module)
log.is_recording = True


@RecordFunction("decorated")
def decorated(depth):
    if depth:
        decorated(depth - 1)


def own_line():
    return sys._getframe(1).f_lineno


lines = {}
for number in range(3):
    with RecordFunction("plain"):
        lines["plain"] = own_line() - 1
    with RecordFunction('a "quoted" é\n'), RecordFunction("second"):
        lines["second"] = own_line() - 1
decorated(2)
lines["decorated"] = decorated.__wrapped__.__code__.co_firstlineno


@RecordFunction("raising")
def raising(depth):
    if depth:
        try:
            raising(depth - 1)
        except LookupError:
            return
    raise KeyError


raising(1)
with contextlib.ExitStack() as stack:
    stack.enter_context(RecordFunction("stacked"))
    lines["stacked"] = own_line() - 1
try:
    with RecordFunction("failing"):
        lines["failing"] = own_line() - 1
        raise ValueError
except ValueError:
    pass
exec(compile("with R('of torch'): pass", "/lib/torch/optim/x.py", "exec"), {"R": RecordFunction})
exec(compile("with R('of a string'): pass", "<string>", "exec"), {"R": RecordFunction})
with RecordFunction(b"no text"):
    pass
log.is_recording = False
with RecordFunction("not recorded"):
    pass
log.is_recording = True

child = os.fork()
if child == 0:
    with RecordFunction("in the child"):
        pass
    os._exit(any(region.name == "in the child" for region in log.regions))
status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def pass_often(name):
    for _ in range(2000):
        with RecordFunction(name):
            decorated(0)


threads = [threading.Thread(target=pass_often, args=(f"thread {number}",)) for number in range(4)]
sys.setswitchinterval(1e-6)
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()

values = log.as_values()
places = values["places"]
columns = log.entries()
by_name = {}
for region, call in zip(columns["region"], columns["call"]):
    by_name.setdefault(values["regions"][region]["name"], []).append(call)
print(
    json.dumps(
        {
            "lines": lines,
            "logged": {r["name"]: places[r["place"]]["line"] for r in values["regions"]},
            "files": sorted({places[r["place"]]["file"] for r in values["regions"]}),
            "functions": {r["name"]: places[r["place"]]["function"] for r in values["regions"]},
            "finished": {r["name"]: places[r["place"]]["finished"] for r in values["regions"]},
            "calls": {name: sorted(found) == list(range(len(found))) for name, found in by_name.items()},
            "counts": {name: len(found) for name, found in by_name.items()},
            "threads": len(set(columns["thread"])),
            "sorted": all(a >= 0 for a in columns["time_ns"]),
            "depths": sorted({depth for region in log.regions for depth in region.depth.values()}),
            "open": log.open_calls,
            "first": entered[:4],
            "failing": [pair for pair in left if pair[0] == "failing"],
            "raised": [[values["regions"][region]["name"], *rest] for region, *rest in columns["raised"]],
            "safe": [name for name in RecordFunction.seen if "quoted" in str(name)],
            "wrapped": RecordFunction.__enter__.__wrapped__ is original,
            "child": status == 0,
        }
    )
)
