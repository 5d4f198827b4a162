"""What a script does before and between its imports, drawn at random: in a prepared interpreter it finds what it finds
in a plain one, or it is not used. With a stand-in for torch; in this process's children, without the worker.

    python -m tests.runner.prepared_property [DRAWS]

Not in every run of CI: `test_prepared.py` takes a few draws.
"""

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

CORE = Path(__file__).parents[2] / "profiler_core"

DOES = (
    "os.environ['MINE'] = '1'", "os.environ['SOME_OPTION'] = 'on'", "os.environ['OMP_NUM_THREADS'] = '2'",
    "os.environ.pop('HOME', None)", "os.putenv('CUDA_VISIBLE_DEVICES', '')", "os.chdir('/')", "os.nice(0)",
    "os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})", "random.seed(1)", "random.random()",
    "random.Random.random = lambda self: 4", "json.loads = len", "inspect.getfile = len", "os.path.join = max",
    "logging.setLoggerClass(type('L', (logging.Logger,), {}))", "logging.basicConfig(level=10)", "logging.disable(10)",
    "logging.getLogger('torch')", "logging.getLogger('mine')", "warnings.simplefilter('error')",
    "warnings.filterwarnings('ignore', 'even')", "warnings.resetwarnings()", "signal.signal(signal.SIGUSR1, len)",
    "atexit.register(print, 'mine')", "weakref.finalize(K, print, 'K')", "sys.setrecursionlimit(900)", "gc.disable()",
    "gc.set_threshold(9)", "sys.setswitchinterval(0.1)", "threading.stack_size(1 << 20)", "sys.argv.append('c')",
    "resource.setrlimit(resource.RLIMIT_CORE, (0, 0))", "sys.path.insert(0, '/nowhere')", "sys.excepthook = len",
    "builtins.mine = 1", "threading.Thread(target=len, args=('',)).start()", "import multiprocessing",
    "import multiprocessing; multiprocessing.set_start_method('spawn', force=True)", "import numpy", "import torchgen",
    "import typing_extensions", "import importlib.util; importlib.util.find_spec('torch')", "open(os.devnull).close()",
    "sys.modules['torchgen'] = sys", "locale.setlocale(locale.LC_CTYPE, 'C')", "sys.dont_write_bytecode = True",
)  # fmt: skip

BEGIN = """import atexit, builtins, gc, inspect, json, locale, logging, os, random, resource, signal, sys, threading
import warnings, weakref, multiprocessing.context
class K: pass
def see():
    modules = [n for n, m in list(sys.modules.items()) if "site-packages" in str(getattr(m, "__file__", ""))]
    torch = sys.modules.get("torch")
    return [sorted(modules), [str(f) for f in warnings.filters], sorted(logging.root.manager.loggerDict),
            dict(os.environ), torch and [torch.value, torch.option, sorted(torch.processors), torch.drawn, torch.found],
            sorted(os.listdir("/proc/self/fd"))[:-1], len(threading.enumerate()), inspect.getfile.__module__]
"""
END = "print(json.dumps(shown), flush=True)\n"

TORCH = """import atexit, inspect, json, logging, os, random, threading, warnings, weakref, typing_extensions
logger = logging.getLogger("torch")
os.environ["SET_BY_TORCH"] = "1"
option = os.environ.get("SOME_OPTION")
warnings.filterwarnings("ignore", "odd")
atexit.register(print, "end of torch")
class Kept: pass
kept = Kept()
weakref.finalize(kept, print, "torch is finalized")
processors, drawn, found = os.sched_getaffinity(0), type(logger).__name__, os.getcwd() == "/"
original, inspect.getfile = inspect.getfile, lambda value: original(value)
import numpy, torchgen
value = str(json.loads)[:20]
"""

PREPARED = """import os, sys
NAMES = set(sys.modules)
sys.path[:0] = sys.argv[1:3]
from kinetoscope_core.runner import channel
from kinetoscope_core.runner.wings import Wings
PLAIN = sys.argv[3] == "plain"
code = sys.argv[4]
def give_up(why):
    os.write(2, why.encode())
    os._exit(77)
sys.argv[:] = ["script", "a"]
if not PLAIN:
    wings = Wings(NAMES, give_up)
    wings.preload([], lambda torch: None)
    wings.stand_by({})
else:
    from kinetoscope_core.runner import surroundings
del sys.path[0]
exec(compile(code, "script", "exec"), {"__name__": "__main__"})
"""


def site(folder: Path) -> Path:
    packages = folder / "site-packages"
    packages.mkdir()
    files = {"torch": TORCH, "numpy": "value = 5\n", "torchgen": "", "typing_extensions": ""}
    for name, text in files.items():
        (packages / f"{name}.py").write_text(text)
    return packages


def ran(packages: Path, way: str, code: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-S", "-c", PREPARED, str(CORE), str(packages), way, code]
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "COV_"))}
    return subprocess.run(command, env=environment, capture_output=True, text=True, timeout=60, check=False)


def script_of(before: list[str], after: list[str]) -> str:
    """A script that notes what it sees at each step; what it does may fail, and that is seen too."""
    steps = [*before, "import torch", *after]
    lines = [BEGIN, "shown = [see()]\n"]
    for step in steps:
        lines.append(f"try:\n    {step}\nexcept Exception as error:\n    shown.append(repr(error))\n")
        lines.append("shown.append(see())\n" if "os.path.join" not in step else "")
    return "".join([*lines, END])


def check(packages: Path, before: list[str], after: list[str], count: dict[str, int]) -> None:
    code = script_of(before, after)
    prepared = ran(packages, "prepared", code)
    if prepared.returncode == 77:
        count["plain"] = count.get("plain", 0) + 1
        return
    plain = ran(packages, "plain", code)
    count["prepared"] = count.get("prepared", 0) + 1
    assert (prepared.returncode, prepared.stdout, prepared.stderr) == (plain.returncode, plain.stdout, plain.stderr)


def draw(draws: int) -> dict[str, int]:
    """How many of the draws ran prepared and how many did not; raises `AssertionError` with the smallest difference."""
    count: dict[str, int] = {}
    with tempfile.TemporaryDirectory() as folder:
        packages = site(Path(folder))
        some = st.lists(st.sampled_from(DOES), max_size=3, unique=True)

        @settings(max_examples=draws, deadline=None, database=None, suppress_health_check=list(HealthCheck))
        @given(some, some)
        def differs(before: list[str], after: list[str]) -> None:
            check(packages, before, after, count)

        differs()
    return count


if __name__ == "__main__":
    print(json.dumps(draw(int(sys.argv[1]) if len(sys.argv) > 1 else 10_000)))
