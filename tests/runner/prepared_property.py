"""What a script does before and between its imports, drawn at random: in a prepared interpreter it finds what it finds
in a plain one, or it is not used. Without the worker and without CUDA.

    python -m tests.runner.prepared_property [DRAWS] [--torch] [--jobs N] [--seed S]

Not in every run of CI: `test_prepared.py` takes a few draws. With a stand-in for torch, each script runs in a fork of a
process that has prepared itself and in one of a process that has not (40 ms a draw); with `--torch`, in two new
processes that import it (8 s of CPU time a draw). A seed and a number of jobs give the same draws again.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections import Counter
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from hypothesis import HealthCheck, Phase, given, seed, settings
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
    "builtins.mine = 1", "t = threading.Thread(target=len, args=('',)); t.start(); t.join(); time.sleep(0.02)",
    "import multiprocessing",
    "import multiprocessing; multiprocessing.set_start_method('spawn', force=True)", "import numpy", "import torchgen",
    "import typing_extensions", "import importlib.util; importlib.util.find_spec('torch')", "open(os.devnull).close()",
    "sys.modules['torchgen'] = sys", "locale.setlocale(locale.LC_CTYPE, 'C')", "sys.dont_write_bytecode = True",
    "import numpy, numpy.random; numpy.random.seed(2); K.numpy = numpy.random", "sys.stdout.write('')", "os.umask(18)",
    "sys.stdin = open(os.devnull)", "K.file = os.open(os.devnull, 0)", "sys.setprofile(None)",
    "os.environ.setdefault('A', 'b')",
    "K.thread = threading.Thread(target=threading.Event().wait, daemon=True); K.thread.start()",
    "os.environ['TORCH_LOGS'] = ''", "warnings.showwarning = len", "logging.root.handlers.clear()", "gc.freeze()",
    "sys.modules['torch'].manual_seed(4); K.seeded = True", "sys.modules['torch'].rand(2)", "sys.meta_path.append(K)",
    "sys.path_hooks.clear()", "sys.path_importer_cache.clear()", "sys.unraisablehook = len",
)  # fmt: skip

BEGIN = """import atexit, builtins, gc, inspect, json, locale, logging, os, random, resource, signal, sys, threading
import time, warnings, weakref, zlib, multiprocessing.context
class K: numpy = seeded = None
random.seed(7)
def see():
    modules = [n for n, m in list(sys.modules.items()) if "site-packages" in str(getattr(m, "__file__", ""))]
    torch, drawn = sys.modules.get("torch"), repr(random.getstate())
    if hasattr(torch, "value"):
        torch = [torch.value, torch.option, sorted(torch.processors), torch.drawn, torch.found]
    elif torch is not None:
        torch = [K.seeded and torch.get_rng_state().sum().item(), torch.get_num_threads(),
                 torch.get_num_interop_threads(), torch.get_default_dtype().itemsize, torch.is_grad_enabled()]
    return [sorted(modules), [str(f) for f in warnings.filters], sorted(logging.root.manager.loggerDict), torch,
            dict(os.environ), zlib.crc32((drawn + repr(K.numpy and K.numpy.get_state())).encode()),
            sorted(os.listdir("/proc/self/fd"))[:-1], [t.name for t in threading.enumerate()],
            torch and len(os.listdir("/proc/self/task")), inspect.getfile.__module__, os.getcwd(), sys.argv,
            str(sys.flags), [getattr(each, "__name__", type(each).__name__) for each in sys.meta_path
             if "torch" in sys.modules or type(each).__name__ != "_Finder"], len(sys.path)]
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

PROGRAM = """import os, sys
NAMES = set(sys.modules)
CORE, PACKAGES, WAY, FOLDER, FORKS = sys.argv[1:]
sys.path[:0] = [CORE, PACKAGES]
from kinetoscope_core.runner.start import ImportedAhead  # and all that a runner imports
def give_up(why):
    os.write(2, why.encode())
    os._exit(77)
sys.argv[:] = ["script", "a"]
if WAY == "prepared":
    ahead = ImportedAhead(NAMES, give_up)
    ahead.preload([], lambda torch: None)
while FORKS and os.read(0, 1):
    child = os.fork()
    if not child:
        for number, name, how in ((0, os.devnull, os.O_RDONLY), (1, "stdout", os.O_RDWR), (2, "stderr", os.O_RDWR)):
            opened = os.open(os.path.join(FOLDER, name), how | os.O_CREAT | os.O_TRUNC)
            os.dup2(opened, number)
            os.close(opened)
        break
    os.write(1, b"%d\\n" % os.waitpid(child, 0)[1])
else:
    if FORKS:
        os._exit(0)
if WAY == "prepared":
    ahead.stand_by({})
sys.path.remove(CORE)
with open(os.path.join(FOLDER, "script.py")) as file:
    code = file.read()
del file
exec(compile(code, "script", "exec"), {"__name__": "__main__"})
"""


def site(folder: Path) -> Path:
    packages = folder / "site-packages"
    packages.mkdir()
    files = {"torch": TORCH, "numpy": "value = 5\n", "torchgen": "", "typing_extensions": ""}
    for name, text in files.items():
        (packages / f"{name}.py").write_text(text)
    return packages


class Way:
    """Runs scripts prepared or plain: in forks of one process, or (`forks=False`) each in a process of its own."""

    def __init__(self, packages: Path, way: str, folder: Path, *, forks: bool) -> None:
        self._folder = folder
        self._process: subprocess.Popen[bytes] | None = None
        self._command = [sys.executable, "-S", "-c", PROGRAM, str(CORE), str(packages), way, str(folder), "f" * forks]
        environment = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "COV_"))}
        self._options: dict[str, Any] = {"env": environment, "cwd": folder}
        if forks:
            pipe = subprocess.PIPE
            self._process = subprocess.Popen(self._command, bufsize=0, stdin=pipe, stdout=pipe, **self._options)

    def run(self, code: str) -> tuple[int, str, str]:
        """Its exit code (of a fork: its wait status), stdout and stderr."""
        (self._folder / "script.py").write_text(code)
        if self._process is None:
            done = subprocess.run(self._command, capture_output=True, text=True, check=False, **self._options)
            return done.returncode, done.stdout, done.stderr
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(b"x")
        status = int(self._process.stdout.readline())
        if os.WIFEXITED(status):
            status = os.WEXITSTATUS(status)
        return status, (self._folder / "stdout").read_text(), (self._folder / "stderr").read_text()

    def end(self) -> None:
        if self._process is not None:
            self._process.communicate()


def script_of(before: list[str], after: list[str]) -> str:
    """A script that notes what it sees at each step; what it does may fail, and that is seen too."""
    steps = [*before, "import torch", *after]
    lines = [BEGIN, "shown = [see()]\n"]
    for step in steps:
        lines.append(f"try:\n    {step}\nexcept Exception as error:\n    shown.append(repr(error))\n")
        lines.append("shown.append(see())\n" if "os.path.join" not in step else "")
    return "".join([*lines, END])


def check(ways: dict[str, Way], before: list[str], after: list[str], count: Counter[str]) -> None:
    code = script_of(before, after)
    prepared = ways["prepared"].run(code)
    if prepared[0] == 77:
        count["plain"] += 1
        return
    plain = ways["plain"].run(code)
    count["prepared"] += 1
    assert prepared == plain, f"{before} | {after}: {difference(prepared, plain)}"


def difference(prepared: tuple[int, str, str], plain: tuple[int, str, str]) -> str:
    """What differs, shortly: values of the first step that does."""
    try:
        pairs = zip(json.loads(prepared[1].splitlines()[0]), json.loads(plain[1].splitlines()[0]), strict=True)
        for step, (one, other) in enumerate(pairs):
            if one != other:
                return f"step {step}: " + "; ".join(f"{a} != {b}" for a, b in zip(one, other, strict=True) if a != b)
    except (ValueError, IndexError):
        pass
    return f"{prepared} != {plain}"


def draw(draws: int, start: int = 0, *, with_torch: bool = False) -> Counter[str]:
    """How many of the draws ran prepared and how many did not; raises `AssertionError` with the smallest difference."""
    count: Counter[str] = Counter()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        packages = Path(_site_packages()) if with_torch else site(folder)
        ways = {way: Way(packages, way, folder, forks=not with_torch) for way in ("prepared", "plain")}
        some = st.lists(st.sampled_from(DOES), max_size=3, unique=True)

        @seed(start)
        @settings(
            max_examples=draws,
            deadline=None,
            database=None,
            suppress_health_check=[*HealthCheck],
            phases=(Phase.generate, Phase.shrink),
        )
        @given(some, some)
        def differs(before: list[str], after: list[str]) -> None:
            check(ways, before, after, count)

        try:
            differs()
        finally:
            for way in ways.values():
                way.end()
    return count


def _site_packages() -> str:
    found = find_spec("torch")
    assert found is not None
    assert found.origin is not None
    return str(Path(found.origin).parents[1])


def main() -> int:
    """Spreads the draws over processes; each draws from a seed of its own."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("draws", nargs="?", type=int, default=10_000)
    parser.add_argument("--torch", action="store_true")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--seed", type=int, default=0)
    asked = parser.parse_args()
    if asked.jobs == 1:
        print(json.dumps(draw(asked.draws, asked.seed, with_torch=asked.torch)))
        return 0
    began = time.monotonic()
    each = -(-asked.draws // asked.jobs)
    command = [sys.executable, "-m", "tests.runner.prepared_property", str(each), *(["--torch"] * asked.torch)]
    jobs = [
        subprocess.Popen([*command, "--seed", str(asked.seed + job)], stdout=subprocess.PIPE)
        for job in range(asked.jobs)
    ]
    count: Counter[str] = Counter()
    for job in jobs:
        count.update(json.loads(job.communicate()[0] or "{}"))
    failed = [asked.seed + number for number, job in enumerate(jobs) if job.returncode]
    kind = "torch" if asked.torch else "a stand-in"
    print(
        f"{count.total()} draws with {kind} in {time.monotonic() - began:.0f} s ({asked.jobs} jobs, seeds from"
        f" {asked.seed}): {count['prepared']} ran prepared as plain, {count['plain']} began again plain."
    )
    for number in failed:
        print(f"DIFFERENT: again with `{' '.join(command[1:])} --seed {number}`, told above.")
    return len(failed)


if __name__ == "__main__":
    sys.exit(main())
