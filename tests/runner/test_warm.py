"""A script finds in a prepared interpreter what it finds in a new one, or it runs in a new one."""

import importlib.util
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from kinetoscope_core.runner import packages

from .worker import Worker, order

ROOT = Path(__file__).parents[2]

pytestmark = pytest.mark.timeout(180)


def test_with_torch_everything_that_a_script_can_see_is_the_same(kinetoscope):
    cold = Worker(kinetoscope)
    result = cold.profile("state.py", "-a", "two words")
    assert result["event"] == "result", cold.output
    assert result["is_warm"] is False

    warm = Worker(kinetoscope)
    prepared = warm.prepare(result["order"])
    assert prepared["event"] == "prepared", prepared
    assert warm.profile("state.py", "-a", "two words")["is_warm"] is True
    assert warm.output_by_stream == cold.output_by_stream
    assert '"generator": ' in cold.output

    again = Worker(kinetoscope)
    again.prepare(warm.events[-1]["order"] if "order" in warm.events[-1] else result["order"])
    trace = again.profile("state.py", "-a", "two words")["result"]
    (region,) = [region for region in trace["regions"] if region["name"] == "step"]
    (first,) = [region for region in result["result"]["regions"] if region["name"] == "step"]
    assert (region["occurrences"], region["measured"]) == (first["occurrences"], first["measured"]) == (8, 5)
    assert region["launches"] == first["launches"]
    names = [{part["name"] for part in each["breakdown"]["operators"]} for each in (region, first)]
    assert names[0] == names[1] == {"aten::ones", "aten::matmul"}


# What follows needs no torch: packages are made up, in a folder with the name that package folders have.


@pytest.fixture
def site(tmp_path):
    folder = tmp_path / "site-packages"
    folder.mkdir()
    return folder


@pytest.fixture
def made(kinetoscope, site, tmp_path):
    """Prepares the packages `pack` and `other`, and runs a script that way; returns the worker."""
    work = tmp_path / "work"
    work.mkdir()

    def write(pack, script, other):
        (site / "pack.py").write_text(pack)
        (site / "other.py").write_text(other)
        (work / "script.py").write_text(script)

    def begin(script, pack="value = 1\n", other="import itertools\nvalue = 5\n"):
        write(pack, script, other)
        worker = Worker(kinetoscope, work, PYTHONPATH=str(site))
        worker.prepared = worker.prepare(order(worker, "script.py", ["pack", "other"]))
        return worker

    def run(script, *packages, between=lambda: None, arguments=(), **others):
        worker = begin(script, *packages, **others)
        between()
        worker.profile("script.py", *arguments)
        cold = Worker(kinetoscope, work, PYTHONPATH=str(site))
        cold.profile("script.py", *arguments)
        assert worker.output_by_stream == cold.output_by_stream, worker.events
        return worker

    run.begin = begin
    run.work = work
    return run


def went_warm(worker):
    assert worker.prepared["event"] == "prepared", worker.prepared
    return not worker.why("needs_cold") and not worker.why("cold")


HARMLESS = {
    "nothing": "",
    "imports of the library": "import argparse, logging, json, threading, queue, random\n",
    "a variable of its own": "import os\nos.environ['MY_OWN'] = '1'\n",
    "ignored warnings": "import warnings\nwarnings.filterwarnings('ignore', category=FutureWarning)\n",
    "another folder": "import os\nos.chdir('/')\n",
    "a module that is only looked for": "import importlib.util\nprint(importlib.util.find_spec('pack').origin)\n",
    "a signal handler": "import signal\nsignal.signal(signal.SIGUSR1, lambda *_: None)\n",
    "a path for its own modules": "import sys\nsys.path.insert(0, '/nowhere')\n",
    "a thread": "import threading\nthreading.Thread(target=print, args=('in a thread',)).start()\n",
    "a subprocess": "import subprocess, sys\nsubprocess.run([sys.executable, '-c', 'import pack; print(pack)'])\n",
}


@pytest.mark.parametrize("before", HARMLESS.values(), ids=HARMLESS)
def test_what_an_import_cannot_see_may_come_before_it(made, before):
    worker = made(before + "import pack, other\nprint(pack.value, other.value)\n")
    assert went_warm(worker), worker.events
    assert "1 5\n" in worker.output


NEEDS_COLD = {
    "OMP_NUM_THREADS": "import os\nos.environ['OMP_NUM' + '_THREADS'] = '3'\n",
    "CUDA_VISIBLE_DEVICES": "import os\nos.putenv('CU' + 'DA_VISIBLE_DEVICES', '')\n",
    "PACK_OPTION": "import os\nos.environ['PACK_OPTION'] = 'on'\n",
    "the warnings filters": "import warnings\nwarnings.filters.clear()\n",
    "warnings filters": "import warnings\nwarnings.simplefilter('error')\n",
    "loggers of its packages": "import logging\nlogging.getLogger('pack').setLevel(40)\n",
    "the root logger": "import logging\nlogging.basicConfig(level=10)\n",
    "exit handlers": "import atexit\natexit.register(print, 'the end')\n",
    "hooks": "import sys\nsys.excepthook = lambda *_: None\n",
    "streams": "import sys, io\nsys.stderr = io.TextIOWrapper(sys.stderr.buffer, 'ascii')\n",
    "how modules are found": "import sys\nsys.meta_path.insert(0, type('F', (), {'find_spec': lambda *_: None})())\n",
    "in place of its packages": "import sys, types\nsys.modules['other'] = types.SimpleNamespace(value=6)\n",
    "its own missing": "import sys\nsys.path.insert(0, 'own')\n",
    "its own other": "import sys\nsys.path.insert(0, 'own other')\n",
    "it forks": "import os, sys\nif not os.fork():\n    os._exit(0)\nos.wait()\n",
}


@pytest.mark.parametrize(("why", "before"), NEEDS_COLD.items(), ids=NEEDS_COLD)
def test_what_an_import_can_see_starts_it_again_cold_and_nothing_is_shown_twice(made, why, before):
    for name, module in (("own", "missing"), ("own other", "other")):
        (made.work / name).mkdir()
        (made.work / name / f"{module}.py").write_text("value = 7\n")
    pack = (
        "import atexit, logging, os\natexit.register(int)\nlogger = logging.getLogger('pack')\n"
        "value = os.environ.get('PACK_OPTION')\nimport other\n"
        "try:\n    import missing\n    value = missing.value\nexcept ImportError:\n    pass\n"
    )
    script = "print('seen before', flush=True)\n" + before + "import pack, other\nprint(pack.value, other.value)\n"
    worker = made(script, pack)
    assert worker.prepared["event"] == "prepared"
    (said,) = worker.why("needs_cold")
    assert why in said
    assert worker.output.count("seen before") == 1


def test_a_module_beside_the_script_that_would_go_before_a_package_starts_it_cold(made):
    (made.work / "other.py").write_text("value = 8\n")
    worker = made("import pack\nprint(pack.other.value)\n", "import other\nvalue = 1\n")
    assert worker.why("needs_cold") == ["its own other goes before that of the packages"]
    assert "8\n" in worker.output


def test_a_path_between_two_imports_goes_before_that_of_the_second(made):
    (made.work / "own").mkdir()
    (made.work / "own" / "other.py").write_text("value = 8\n")
    worker = made("import pack, sys\nsys.path.insert(0, 'own')\nimport other\nprint(other.value)\n")
    assert worker.why("needs_cold") == ["its own other goes before that of the packages"]
    assert "8\n" in worker.output


def test_a_variable_set_between_two_imports_is_seen_by_a_shared_library(made, site):
    shutil.copy(importlib.util.find_spec("xxlimited").origin, site)
    script = "import os\nimport pack\nos.environ['OMP_NUM' + '_THREADS'] = '3'\nimport other\nprint('imported')\n"
    worker = made(script, other="import xxlimited\n")
    assert worker.why("needs_cold") == ["it sets OMP_NUM_THREADS before it imports what reads that"]
    assert went_warm(made(script, other="import itertools\n"))


def test_a_module_beside_the_script_may_be_called_like_one_of_the_library(made):
    (made.work / "itertools.py").write_text("")
    (made.work / "colorsys.py").write_text("mine = True\n")
    worker = made("import colorsys, pack\nprint(colorsys.mine, pack.value)\n")
    assert went_warm(worker), worker.events
    worker = made("import colorsys, pack\nprint(colorsys.mine)\n", "import colorsys\nvalue = 1\n")
    assert worker.why("needs_cold") == ["its own colorsys goes before that of the packages"]


def test_what_packages_change_appears_when_they_are_imported(made):
    pack = (
        "import atexit, logging, os, sys, warnings\nlogger = logging.getLogger('pack')\n"
        "os.environ['SET_BY_PACK'] = '1'\nwarnings.filterwarnings('ignore', 'odd')\n"
        "atexit.register(print, 'end of pack')\nimport __main__\nmain = __main__\nargv = list(sys.argv)\n"
        "sys.meta_path.append(type('Finder', (), {'find_spec': lambda *_: None})())\nvalue = 1\n"
    )
    script = """
import sys, os, warnings, atexit, logging
def state():
    finders = [type(finder).__name__ for finder in sys.meta_path if "_" not in type(finder).__name__]
    print(os.environ.get("SET_BY_PACK"), [str(f) for f in warnings.filters if "fork" not in str(f)], finders)
    print("pack" in sys.modules, "pack" in logging.root.manager.loggerDict)
state()
import pack
state()
print(pack.main is sys.modules["__main__"], pack.argv[1:], pack.__spec__.origin, type(pack.__loader__), pack.__file__)
atexit.register(print, "end of the script")
warnings.warn("odd")
warnings.warn("even")
"""
    worker = made(script, pack, arguments=["a", "b"])
    assert went_warm(worker), worker.events
    assert worker.output.index("end of the script") < worker.output.index("end of pack")


NOT_PREPARED = {
    "prints: hello": "print('hello')\n",
    "prints: to the descriptor": "import os\nos.write(2, b'to the descriptor')\n",
    "changes signal handlers": "import signal\nsignal.signal(signal.SIGTERM, lambda *_: None)\n",
    "changes hooks": "import sys\nsys.excepthook = print\n",
    "changes the root logger": "import logging\nlogging.basicConfig()\n",
    "changes the working directory": "import os\nos.chdir('/')\n",
    "changes limits": "import sys\nsys.setrecursionlimit(5000)\n",
    "changes sys.path": "import sys\nsys.path.append('/nowhere')\n",
    "starts threads": "import threading, time\nthreading.Thread(target=time.sleep, args=(60,), daemon=True).start()\n",
    "raises ValueError: no": "raise ValueError('no')\n",
    "raises SystemExit: 3": "raise SystemExit(3)\n",
    "removes environment variables": "import os\ndel os.environ['PYTHONPATH']\n",
    "the packages import mine": "import sys\nsys.path.insert(0, 'mine')\nimport mine\ndel sys.path[0]\n",
}


@pytest.mark.parametrize(("why", "pack"), NOT_PREPARED.items(), ids=NOT_PREPARED)
def test_packages_that_leave_a_trace_are_not_imported_ahead(made, why, pack):
    (made.work / "mine").mkdir()
    (made.work / "mine" / "mine.py").write_text("")
    worker = made("try:\n    import pack\nexcept ValueError:\n    pass\nprint('ran')\n", pack)
    assert worker.prepared["event"] == "not_prepared"
    assert why in worker.prepared["why"]
    assert worker.output.count("hello") == pack.count("hello")


def test_modules_of_the_user_s_that_packages_import_are_not_run_ahead(made, kinetoscope, site, tmp_path):
    own = tmp_path / "own"
    own.mkdir()
    (own / "settings.py").write_text(f"open({str(tmp_path / 'was run')!r}, 'w').close()\n")
    (site / "pack.py").write_text("try:\n    import settings\nexcept ImportError:\n    pass\n")
    worker = Worker(kinetoscope, made.work, PYTHONPATH=f"{site}{os.pathsep}{own}")
    (made.work / "script.py").write_text("import pack\nprint('ran')\n")
    prepared = worker.prepare(order(worker, "script.py", ["pack"]))
    assert prepared["why"] == "the packages import settings, which is not one of them"
    assert not (tmp_path / "was run").exists()
    worker.profile("script.py")
    assert worker.output == "ran\n"
    assert (tmp_path / "was run").exists()


def test_libraries_of_python_itself_are_not_the_user_s():
    beside_it_on_windows = os.path.join(sys.base_exec_prefix, "DLLs", "_lzma.pyd")
    for library in (os.__file__, importlib.util.find_spec("_lzma").origin, pytest.__file__, beside_it_on_windows):
        assert not packages.is_of_the_user(library)
    assert packages.is_of_the_user(__file__)


@pytest.mark.parametrize("what", ["changed", "installed"])
def test_packages_that_have_changed_since_start_it_cold(made, site, what):
    def change():
        if what == "changed":
            (site / "other.py").write_text("value = 9\n")
            os.utime(site / "other.py", (1, 1))
        else:
            (site / "new").mkdir()

    worker = made("import pack, other\nprint(other.value)\n", between=change)
    (why,) = worker.why("cold")  # not of the script's making: the next one may be prepared again
    assert "packages" in why
    assert f"{9 if what == 'changed' else 5}\n" in worker.output


def test_another_interpreter_folder_or_script_starts_it_cold(made, kinetoscope, tmp_path):
    for changes, why in [
        ({"interpreter": "/usr/bin/env"}, "another interpreter"),
        ({"folder": str(tmp_path)}, "another folder"),
        ({"environment": {}}, "another interpreter or environment"),
    ]:
        worker = made.begin("print('ran')\n")
        worker.profile("script.py", **changes)
        assert why in worker.why("cold")[0]
    (made.work / "plain.py").write_text("print('ran')\n")
    worker = Worker(kinetoscope, made.work, PYTHONPATH=str(made.work.parent / "site-packages"))
    worker.prepare(order(worker, "script.py", ["pack"], roots=["pack"]))
    worker.profile("plain.py")
    assert worker.why("cold") == ["it does not import what was imported ahead"]


@pytest.mark.parametrize(
    ("source", "why"),
    [
        ("import logging\nlogging.basicConfig(level=10)\nimport pack\n", "logging.basicConfig"),
        ("import atexit\natexit.register(print, 'bye')\nimport pack\n", "atexit.register"),
        ("import warnings\nwarnings.filterwarnings('error')\nimport pack\n", "warnings.filterwarnings"),
        ("import sys\nsys.stdout = sys.stderr\nimport pack\n", "sys.stdout"),
        ("import warnings\nwarnings.filterwarnings('ignore')\nimport pack\n", None),
        ("import logging, pack\nlogging.basicConfig(level=10)\n", None),
        ("import logging\ndef main():\n    logging.basicConfig()\nimport pack\n", None),
        ("import logging, own\nlogging.basicConfig()\nimport pack\n", None),
    ],
)
def test_a_script_that_can_be_seen_to_need_a_cold_start_does_nothing_twice(made, kinetoscope, source, why):
    (made.work / "own.py").write_text("import pack\n")
    (made.work / "script.py").write_text(
        f"import os\nos.makedirs('made', exist_ok={why is None})\n{source}print('ran')\n"
    )
    (made.work.parent / "site-packages" / "pack.py").write_text("")
    worker = Worker(kinetoscope, made.work, PYTHONPATH=str(made.work.parent / "site-packages"))
    worker.prepare(order(worker, "script.py", ["pack"], roots=["pack"]))
    worker.profile("script.py")
    assert "ran\n" in worker.output
    assert worker.why("needs_cold") == []
    assert worker.why("cold") == ([f"it comes to {why} before it imports its packages"] if why else [])


def test_a_forked_child_imports_packages_that_have_entered(made):
    child = "    import other\n    print(other.value, flush=True)\n    os._exit(0)\n"
    assert went_warm(made(f"import os, pack\nif not os.fork():\n{child}os.wait()\n"))


def test_a_forked_child_that_sets_what_a_package_reads_imports_it_anew(made):
    pack = "import os\ndef more():\n    import other\n    return other.value\n"
    script = (
        "import os, pack\nif not os.fork():\n    os.environ['OPTION'] = '7'\n    print(pack.more(), flush=True)\n"
        "    import other\n    print(other.__spec__.name, other.__loader__.name)\n    os._exit(0)\n"
        "os.wait()\nprint(pack.more())\n"
    )
    worker = made(script, pack, other="import os\nvalue = os.environ.get('OPTION', '5')\n")
    assert went_warm(worker), worker.events
    assert "7\n" in worker.output
    assert worker.output.endswith("5\n")


def test_output_after_an_abandoned_try_that_differs_is_all_shown(made, tmp_path):
    # What it prints before the import is another text each time: nothing of the second run is held back from there on.
    script = f"""
import os
count = len(os.listdir({str(tmp_path)!r}))
open({str(tmp_path)!r} + "/" + str(count), "w").close()
print("always the same;", "count", count, flush=True)
os.environ["OMP_NUM" + "_THREADS"] = "5"
import pack
print("the end")
"""
    worker = made.begin(script)
    worker.profile("script.py")
    first = int(worker.output.split()[4])
    lines = [f"always the same; count {number}\n" for number in (first, first + 1)]
    assert worker.output == "".join([*lines, "the end\n"])


USES_WINGS = """import os, sys
sys.path[:0] = sys.argv[1:3]
from kinetoscope_core.runner.wings import Wings
wings = Wings(set(sys.modules), lambda why: sys.exit("needs cold: " + why))
wings.preload(["torch", "later"], lambda torch: {"CUDA_SET_BY_TORCH": "LAZY"})
wings.stand_by({})
import torch
os.environ["CUDA_SET_BY_TORCH"] = sys.argv[3]
import later
print("later:", later.seen)
"""


@pytest.mark.parametrize(("value", "said"), [("LAZY", "later: 1"), ("EAGER", "needs cold: it sets CUDA_SET_BY_TORCH")])
def test_what_torch_sets_when_cuda_is_used_is_no_change_of_the_script_s(tmp_path, value, said):
    site = tmp_path / "site-packages"
    site.mkdir()
    (site / "torch.py").write_text("value = 1\n")
    (site / "later.py").write_text("import os\nseen = len([name for name in os.environ if name == 'PATH'])\n")
    command = [sys.executable, "-c", USES_WINGS, str(ROOT / "profiler_core"), str(site), value]
    ran = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert (ran.stdout + ran.stderr).startswith(said), ran
