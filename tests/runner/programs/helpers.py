"""Regions that helpers of every shape enter, on a stand-in for torch's module: prints, by name, the lines as JSON.

The first argument is the runner's folder. A line with `# at NAME` is where that region has to stand.
"""

import asyncio
import contextlib
import functools
import importlib.util
import json
import os
import sys
import types


def load_runner(folder):
    spec = importlib.util.spec_from_file_location(
        "runner", os.path.join(folder, "__init__.py"), submodule_search_locations=[folder]
    )
    sys.modules["runner"] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(sys.modules["runner"])


load_runner(sys.argv[1])
from runner.regions.loops import is_in_a_loop  # noqa: E402
from runner.regions.log import MOST_NAMES, RegionLogger  # noqa: E402


class RecordFunction(contextlib.ContextDecorator):
    def __init__(self, name):
        self.name = name

    def __enter__(self):
        return self

    def __exit__(self, kind, error, traceback):
        return None


torch_module = types.ModuleType("torch.autograd.profiler")
torch_module.__file__ = os.path.join(os.sep, "lib", "torch", "autograd", "profiler.py")
torch_module.record_function = RecordFunction
log = RegionLogger(lambda region, call: None, lambda region, failed: None)
log.hook(torch_module)
# What calls hooks is torch's.
machinery = {}
exec(compile("def call(before, f, after):\n before()\n f()\n after()", "/lib/torch/nn/module.py", "exec"), machinery)


@contextlib.contextmanager
def section(name):
    with RecordFunction("set up"):  # at set up
        pass
    with RecordFunction(name):
        yield


@contextlib.asynccontextmanager
async def async_section(name):
    with RecordFunction(name):
        yield


class Subclass(RecordFunction):
    def __enter__(self):
        return super().__enter__()

    def __exit__(self, *exception):
        return super().__exit__(*exception)


class Timer:
    def start(self, name):
        self.region = RecordFunction(name)
        self.region.__enter__()

    def stop(self):
        self.region.__exit__(None, None, None)


@contextlib.contextmanager
def nested(name):
    with Subclass(name):
        yield


pushed = []


def push(name):
    pushed.append(RecordFunction(name))
    pushed[-1].__enter__()


def pop():
    pushed.pop().__exit__(None, None, None)


def hook(name):
    stack = contextlib.ExitStack()

    def before():
        stack.enter_context(RecordFunction(name))

    def after():
        stack.close()

    return before, after


def annotate(function):
    @functools.wraps(function)
    def wrapper(*arguments, **options):
        with RecordFunction(function.__name__):
            return function(*arguments, **options)

    return wrapper


def annotate_typed(function):
    @functools.wraps(function)
    def wrapper(x):
        with section(function.__name__):
            return function(x)

    return wrapper


@annotate  # at annotated
def annotated(x):
    return x


@annotate_typed  # at typed
def typed(x):
    return x


@section("decorated")  # at decorated
def decorated():
    pass


def closure():
    def step():
        pass

    def train(data):
        with RecordFunction("closure"):  # at closure
            step()

    train(1)


def of_its_own():
    region = RecordFunction("by hand")
    region.__enter__()  # at by hand
    region.__exit__(None, None, None)
    with contextlib.ExitStack() as stack:
        stack.enter_context(RecordFunction("stacked"))  # at stacked


def generator():
    with RecordFunction("in a generator"):  # at in a generator
        yield 1
        yield 2


async def tasks():
    async with async_section("async"):  # at async
        pass


for _ in range(3):
    with section("forward"):  # at forward
        pass
    with section("backward"):  # at backward
        pass
    with Subclass("subclass"):  # at subclass
        pass
    with nested("nested"):  # at nested
        pass
    push("pushed")  # at pushed
    pop()
    timer = Timer()
    timer.start("timer")  # at timer
    timer.stop()
    before, after = hook("hook")
    machinery["call"](before, lambda: None, after)  # at hook
    annotated(1)
    typed(1)
    decorated()
    closure()
    of_its_own()
    of_its_own()
    list(generator())
    asyncio.run(tasks())

values = log.as_values()
places = values["places"]
lines = {}
for region in values["regions"]:
    lines.setdefault(region["name"], set()).add(places[region["place"]]["line"])

for number in range(MOST_NAMES + 5000):
    with RecordFunction(f"step {number}"):
        pass
steps = [region for region in log.as_values()["regions"] if region["name"].startswith("step")]


def here():
    return is_in_a_loop(sys._getframe(1))


def loops():
    try:
        raise ValueError
    except ValueError:
        pass
    with contextlib.suppress(ValueError):
        found = [here()]
    for _ in range(1):
        with contextlib.suppress(ValueError):
            found.append(here())
    found.append(here())
    while True:
        found.append(here())
        if found:
            break
    return [*found, here()]


print(
    json.dumps(
        {
            "lines": {name: sorted(found) for name, found in lines.items()},
            "places": len(places),
            "names": len(steps),
            "patterns": [[region["name"], region["finished"]] for region in steps if region["is_pattern"]],
            "loops": loops(),
        }
    )
)
