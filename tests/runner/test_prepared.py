"""A script finds in a prepared interpreter what it finds in a new one, or it runs in a new one."""

import importlib.util
import os
import subprocess
import sys

import pytest

from kinetoscope_core.run.source_scan import why_plain
from kinetoscope_core.run.standby import Preparation, Prepared
from kinetoscope_core.runner.prewarm import packages
from kinetoscope_core.runner.request import RunRequest

from .worker import Worker, preparation

pytestmark = pytest.mark.timeout(180)


@pytest.mark.whole
def test_with_torch_everything_that_a_script_can_see_is_the_same(kinetoscope):
    plain = Worker(kinetoscope)
    result = plain.profile("state.py", "-a", "two words")
    assert result["event"] == "result", plain.output
    assert result["is_prepared"] is False
    assert result["result"]["run"]["is_prepared"] is False

    prepared = Worker(kinetoscope)
    assert prepared.prepare(result["preparation"])["event"] == "prepared", prepared.events
    last = prepared.profile("state.py", "-a", "two words")
    assert last["is_prepared"] is True, prepared.events
    assert last["result"]["run"]["is_prepared"] is True
    assert prepared.output_by_stream == plain.output_by_stream
    assert '"generator": ' in plain.output
    regions = [next(r for r in each["result"]["regions"] if r["name"] == "step") for each in (result, last)]
    for of in ("calls", "measured", "launches"):
        assert regions[0][of] == regions[1][of]
    names = [{part["name"] for part in each["breakdown"]["operators"]} for each in regions]
    assert names[0] == names[1] == {"aten::ones", "aten::matmul"}


# What follows has a stand-in for torch, in a folder with the name that package folders have.

TORCH = """import logging, os, random, warnings, atexit, weakref, json, inspect, typing_extensions
logger = logging.getLogger("torch")
os.environ["SET_BY_TORCH"] = "1"
option = os.environ.get("SOME_OPTION")
warnings.filterwarnings("ignore", "odd")
atexit.register(print, "end of torch")
class Kept: pass
kept = Kept()
weakref.finalize(kept, print, "torch is finalized")
processors = os.sched_getaffinity(0)
original, inspect.getfile = inspect.getfile, lambda value: original(value)
import numpy
try:
    import missing
    value = missing.value
except ImportError:
    value = 1
import torchgen
"""
FILES = {
    "torch.py": TORCH,
    "numpy.py": "import os\nvalue = 5\n",
    "torchgen.py": "",
    "typing_extensions.py": "",
    "pack.py": "import torch\nvalue = 7\n",
}


@pytest.fixture
def site(tmp_path):
    folder = tmp_path / "site-packages"
    folder.mkdir()
    for name, text in FILES.items():
        (folder / name).write_text(text)
    return folder


@pytest.fixture
def made(kinetoscope, site, tmp_path):
    """Runs a script in what was prepared, and by Python alone: it shows the same. Returns the worker."""
    work = tmp_path / "work"
    work.mkdir()

    def run(script, between=lambda: None, arguments=("a", "b"), ahead=(), files=(), scans=False, environment=()):
        for name, text in dict(files).items():
            (site / name).write_text(text)
        (work / "script.py").write_text(script)
        worker = Worker(kinetoscope, work, PYTHONPATH=str(site), scans=scans, **dict(environment))
        worker.prepared = worker.prepare(preparation(worker, "script.py", ahead))
        between()
        worker.profile("script.py", *arguments)
        own = {**kinetoscope.environment, "PYTHONPATH": str(site), **dict(environment)}
        command = [sys.executable, str(work / "script.py"), *arguments]
        options = {"stdin": subprocess.DEVNULL, "env": own, "cwd": work, "timeout": 60}
        plain = subprocess.run(command, capture_output=True, text=True, check=False, **options)
        for stream in ("stdout", "stderr"):
            shown = worker.output_by_stream.get(stream, "")
            assert shown.splitlines() == getattr(plain, stream).splitlines(), worker.events
        return worker

    run.work = work
    return run


def was_prepared(worker):
    assert worker.prepared["event"] == "prepared", worker.prepared
    return not worker.why("needs_cold") and not worker.why("cold")


SHOWS = """
import atexit, inspect, logging, os, random, sys, warnings
def state():
    print(os.environ.get("SET_BY_TORCH"), [str(f) for f in warnings.filters if "fork" not in str(f)])
    print(sorted(n for n in sys.modules if "site-packages" in str(getattr(sys.modules[n], "__file__", ""))))
    print("torch" in logging.root.manager.loggerDict, inspect.getfile.__module__, os.getcwd() == sys.path[0])
"""


HARMLESS = {
    "nothing": "",
    "imports of the library": "import argparse, json, threading, queue\n",
    "a variable of its own": "import os\nos.environ['MY_OWN'] = '1'\n",
    "ignored warnings": "import warnings\nwarnings.filterwarnings('ignore', category=FutureWarning)\n",
    "a module that is only looked for": "import importlib.util\nprint(importlib.util.find_spec('torch').origin)\n",
    "a path for its own modules": "import sys\nsys.path.insert(0, '/nowhere')\n",
    "a thread": "import threading\nthreading.Thread(target=print, args=('in a thread',)).start()\n",
    "a subprocess": "import subprocess, sys\nsubprocess.run([sys.executable, '-c', 'import torch; print(torch)'])\n",
    "numpy": "import numpy\nstate()\nprint(numpy.value)\n",
    "random numbers that torch does not draw": "import random\nrandom.seed(3)\n",
}


@pytest.mark.parametrize("before", HARMLESS.values(), ids=HARMLESS)
def test_what_the_import_of_torch_cannot_see_may_come_before_it(made, before):
    worker = made(SHOWS + "state()\n" + before + "import torch\nstate()\nprint(torch.value, random.random() < 2)\n")
    assert was_prepared(worker), worker.events


NEEDS_PLAIN = {
    "OMP_NUM_THREADS": "import os\nos.environ['OMP_NUM' + '_THREADS'] = '3'\n",
    "CUDA_VISIBLE_DEVICES": "import os\nos.putenv('CU' + 'DA_VISIBLE_DEVICES', '')\n",
    "SOME_OPTION": "import os\nos.environ['SOME_OPTION'] = 'on'\n",
    "the processors": "import os\nos.sched_setaffinity(0, {min(os.sched_getaffinity(0))})\n",
    "the working directory": "import os\nos.chdir('/')\n",
    "the start method of multi": "import multiprocessing\nmultiprocessing.set_start_method('spawn')\n",
    "the warnings filters": "import warnings\nwarnings.filters.clear()\n",
    "warnings filters": "import warnings\nwarnings.simplefilter('error')\n",
    "loggers of its packages": "import logging\nlogging.getLogger('torch').setLevel(40)\n",
    "logging": "import logging\nlogging.setLoggerClass(type('Mine', (logging.Logger,), {}))\n",
    "changes logging": "import logging\nlogging.basicConfig(level=10)\n",
    "exit handlers": "import atexit\natexit.register(print, 'the end')\n",
    "signal handlers": "import signal\nsignal.signal(signal.SIGUSR1, lambda *_: None)\n",
    "hooks": "import sys\nsys.excepthook = lambda *_: None\n",
    "tracing functions": "import sys\nsys.setprofile(lambda *_: None)\n",
    "limits": "import resource\nresource.setrlimit(resource.RLIMIT_CORE, (0, 0))\n",
    "changes limits": "import gc\ngc.disable()\n",
    "the locale": "import locale\nlocale.setlocale(locale.LC_CTYPE, 'C')\n",
    "streams": "import sys, io\nsys.stderr = io.TextIOWrapper(sys.stderr.buffer, 'ascii')\n",
    "changes finders": "import sys\nsys.meta_path.insert(0, type('F', (), {'find_spec': lambda *_: None})())\n",
    "the builtins": "import builtins\nbuiltins.mine = 1\n",
    "it replaces json.loads": "import json\njson.loads = lambda text: text\n",
    "it replaces Random.random": "import random\nrandom.Random.random = lambda self: 4\n",
    "in place of its packages": "import sys, types\nsys.modules['torchgen'] = types.SimpleNamespace(value=6)\n",
    "it imports torchgen, which torch brings": "import torchgen\n",
    "its own module missing": "import sys\nsys.path.insert(0, 'own')\n",
    "packages are installed in": "import sys\nsys.path.insert(0, 'with packages')\n",
    "it forks": "import os, sys\nif not os.fork():\n    os._exit(0)\nos.wait()\n",
}


@pytest.mark.parametrize(("why", "before"), NEEDS_PLAIN.items(), ids=NEEDS_PLAIN)
def test_what_it_can_see_starts_it_again_plain_and_nothing_is_shown_twice(made, why, before):
    (made.work / "own").mkdir()
    (made.work / "own" / "missing.py").write_text("value = 7\n")
    (made.work / "with packages" / "backend.dist-info").mkdir(parents=True)
    script = "print('seen before', flush=True)\n" + before + "import torch\nprint(torch.value, torch.processors)\n"
    worker = made(script)
    assert worker.prepared["event"] == "prepared", worker.prepared
    (said,) = worker.why("needs_cold")
    assert why in said
    assert worker.output.count("seen before") == 1


def test_a_module_beside_the_script_that_would_go_before_a_package_starts_it_plain(made):
    (made.work / "numpy.py").write_text("value = 8\n")
    worker = made("import torch\nprint(torch.numpy.value)\n")
    assert worker.why("needs_cold") == ["its own module numpy comes before that of the packages"]
    assert "8\n" in worker.output


def test_a_package_that_an_earlier_run_imported_and_that_changes_torch_is_not_imported_ahead(made):
    patches = {"patches.py": "import torch\ntorch.value = 'patched'\n"}
    worker = made(SHOWS + "import torch\nstate()\nprint(torch.value)\n", files=patches)
    assert was_prepared(worker)
    assert "patched" not in worker.output


def test_packages_that_the_user_names_enter_with_torch(made):
    pack = "import os, torch\nos.environ.pop('MINE', None)\nos.environ['OF_PACK'] = '1'\nvalue = 7\n"
    script = "import pack\nstate()\nimport torch\nprint(pack.value, [os.environ.get(n) for n in ('MINE', 'OF_PACK')])\n"
    worker = made(SHOWS + script, ahead=["pack"], files={"pack.py": pack}, environment={"MINE": "there"})
    assert was_prepared(worker), worker.events


SEEN_BY_PACKAGES = {
    "files that the packages read have changed": ("value = open({file!r}).read()\n", ("a", "b")),
    "files that the packages read": ("import os\nvalue = os.path.exists({file!r})\n", ("a", "b")),
    "imported for another script or other arguments": ("import sys\nvalue = '--big' in sys.argv\n", ("--big",)),
}


@pytest.mark.parametrize(("why", "how"), SEEN_BY_PACKAGES.items(), ids=SEEN_BY_PACKAGES)
def test_what_a_named_package_reads_is_as_it_was_or_it_is_not_used(made, tmp_path, why, how):
    file = tmp_path / "settings"
    if "exists" not in how[0]:
        file.write_text("old")
    pack = how[0].format(file=str(file))
    between = (lambda: None) if "argv" in pack else lambda: file.write_text("new one")
    script = "import torch, pack\nprint(pack.value)\n"
    worker = made(script, between, how[1], ahead=["pack"], files={"pack.py": pack})
    (said,) = worker.why("cold")
    assert why in said
    if "argv" not in pack:
        worker = made(script, arguments=how[1], ahead=["pack"], files={"pack.py": pack})
        assert was_prepared(worker), worker.events


NOT_PREPARED = {
    "prints: hello": "print('hello')\n",
    "prints: to the descriptor": "import os\nos.write(2, b'to the descriptor')\n",
    "changes signal handlers": "import signal\nsignal.signal(signal.SIGTERM, lambda *_: None)\n",
    "changes hooks": "import sys\nsys.excepthook = print\n",
    "changes logging": "import logging\nlogging.basicConfig()\n",
    "changes the working directory": "import os\nos.chdir('/')\n",
    "changes limits": "import sys\nsys.setrecursionlimit(5000)\n",
    "changes sys.path": "import sys\nsys.path.append('/nowhere')\n",
    "changes the state of random": "import random\nrandom.seed(3)\n",
    "changes threads": "import threading, time\nthreading.Thread(target=time.sleep, args=(60,), daemon=True).start()\n",
    "raises ValueError: no": "raise ValueError('no')\n",
    "raises SystemExit: 3": "raise SystemExit(3)\n",
    "the packages import mine": "import sys\nsys.path.insert(0, 'mine')\nimport mine\ndel sys.path[0]\n",
}


@pytest.mark.parametrize(("why", "pack"), NOT_PREPARED.items(), ids=NOT_PREPARED)
def test_packages_that_leave_a_trace_are_not_imported_ahead(made, why, pack):
    (made.work / "mine").mkdir()
    (made.work / "mine" / "mine.py").write_text("")
    script = "try:\n    import pack\nexcept ValueError:\n    pass\nprint('ran')\n"
    worker = made(script, ahead=["pack"], files={"pack.py": pack})
    assert worker.prepared["event"] == "not_prepared"
    assert why in worker.prepared["why"]
    assert worker.output.count("hello") == pack.count("hello")


def test_libraries_of_python_itself_are_not_the_user_s():
    beside_it_on_windows = os.path.join(sys.base_exec_prefix, "DLLs", "_lzma.pyd")
    for library in (os.__file__, importlib.util.find_spec("_lzma").origin, pytest.__file__, beside_it_on_windows):
        assert not packages.is_of_the_user(library)
    assert packages.is_of_the_user(__file__)


@pytest.mark.parametrize("what", ["changed", "installed"])
def test_packages_that_have_changed_since_start_it_plain(made, site, what):
    def change():
        if what == "changed":
            (site / "torch.py").write_text(TORCH + "value = 9\n")
        else:
            (site / "new").mkdir()

    worker = made("import torch\nprint(torch.value)\n", change)
    (why,) = worker.why("cold")  # not of the script's making: the next one may be prepared again
    assert "packages" in why
    assert f"{9 if what == 'changed' else 1}\n" in worker.output


def test_another_interpreter_or_folder_starts_it_plain(made, kinetoscope, tmp_path, site):
    (made.work / "script.py").write_text("print('ran')\n")
    for changes, why in [
        ({"interpreter": "/usr/bin/env"}, "another interpreter"),
        ({"folder": str(tmp_path)}, "another working directory"),
        ({"environment": {}}, "another interpreter or environment"),
    ]:
        worker = Worker(kinetoscope, made.work, PYTHONPATH=str(site))
        worker.prepare(preparation(worker, "script.py"))
        worker.profile("script.py", **changes)
        assert why in worker.why("cold")[0]


def test_a_click_waits_for_what_is_being_made_ready_but_not_for_ever():
    prepared = Prepared(Preparation(RunRequest("script.py"), cuda=False, cold_s=0.1), runner=None)
    assert prepared.wait(lambda: True) == "it is not ready after 0 s"
    prepared.note({"event": "prepared"})
    assert prepared.wait(lambda: True) is None
    prepared.note({"event": "lost"})
    assert prepared.wait(lambda: True) == "the prepared interpreter has ended"


@pytest.mark.parametrize(
    ("source", "why"),
    [
        ("import torch\n", None),
        ("import os, numpy as np\nos.environ['A'] = '1'\nnp.random.seed(2)\nimport torch\n", None),
        ("import logging as log\nlog.basicConfig(level=10)\nfrom torch import nn\n", None),
        ("import argparse\np = argparse.ArgumentParser()\np.add_argument('-a')\np.parse_args()\nimport torch", None),
        ("from dataclasses import dataclass\n@dataclass\nclass A:\n    b: int = 1\nimport torch\n", None),
        ("def main():\n    import torch\nif __name__ == '__main__':\n    main()\n", "main (line 4 of script.py)"),
        ("try:\n    import torch\nexcept ImportError:\n    print('none')\n", None),
        ("import own\nopen('x', 'w')\n", None),
        ("open('x', 'w').close()\nimport torch\n", "open('x', 'w').close (line 1 of script.py)"),
        ("import os\nos.makedirs('made')\nimport torch\n", "os.makedirs (line 2 of script.py)"),
        ("import logging\nlogging.basicConfig(filename='x')\nimport torch\n", "logging.basicConfig"),
        ("import writes, torch\n", "open (line 1 of writes.py)"),
        ("def print(*_): pass\nprint('mine')\nimport torch\n", "print (line 2"),
        ("import wandb\nwandb.init()\nimport torch\n", "wandb.init (line 2 of script.py)"),
        ("import torch, os\nos.environ['CUDA_VISIBLE_DEVICES'] = '1'\n", "script.py sets CUDA_VISIBLE_DEVICES"),
        (
            "import torch, os\nx = '#'; os.environ['CUDA_VISIBLE_DEVICES'] = '1'\n",
            "script.py sets CUDA_VISIBLE_DEVICES",
        ),
        ("import torch, os\n# os.environ['CUDA_VISIBLE_DEVICES'] = '1'\n", None),
        ("import torch\ndef later():\n    import sets\n", "sets.py sets OMP_NUM_THREADS"),
        ("print(1)\n", "does not import torch"),
        ("import torch\nthis is no Python\n", "cannot be read as Python"),
        ("x = " + "(" * 5000 + ")" * 5000, "cannot be read as Python"),
    ],
)
def test_what_must_not_be_done_twice_is_seen_in_the_source(tmp_path, source, why):
    (tmp_path / "own.py").write_text("import torch\n")
    (tmp_path / "writes.py").write_text("file = open('x', 'w')\n")
    (tmp_path / "sets.py").write_text("import os\nos.environ['OMP_NUM_THREADS'] = '1'\n")
    (tmp_path / "script.py").write_text(source)
    found = why_plain(RunRequest(str(tmp_path / "script.py")))
    assert found is None if why is None else why in (found or ""), found


def test_a_script_whose_work_comes_before_torch_does_it_once(made):
    worker = made("import os\nopen('count', 'a').write('1')\nos.chdir('/')\nimport torch\n", scans=True)
    assert "must not happen twice" in worker.why("cold")[0]
    assert worker.why("needs_cold") == []
    assert (made.work / "count").read_text() == "11"  # once in each of the two runs


def test_a_forked_child_has_what_has_entered(made):
    child = "    import torchgen\n    print(torch.value, flush=True)\n    os._exit(0)\n"
    assert was_prepared(made(f"import os, torch\nif not os.fork():\n{child}os.wait()\n"))


def test_drawn_scripts_find_in_a_prepared_interpreter_what_they_find_in_a_plain_one():
    from .prepared_property import draw

    assert draw(40)["prepared"] > 3
