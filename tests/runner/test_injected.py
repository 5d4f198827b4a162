"""What changes in a Python that a command starts, and what does not."""

import json
import os
import subprocess
import sys
import time

import pytest

from kinetoscope_core.run.commands.process import INJECTED
from kinetoscope_core.runner import guest

SEEN = """
import json, os, sys
print(json.dumps({
    "path": sys.path[:], "modules": sorted(sys.modules), "finders": [type(each).__name__ for each in sys.meta_path],
    "environment": dict(os.environ), "argv": sys.argv, "flags": list(sys.flags),
}))
"""
STAND_IN = {
    "__init__.py": "from . import autograd",
    "autograd/__init__.py": "",
    "autograd/profiler.py": "class profile: pass",
}


def python(*arguments, env=None, is_injected=True, runs_for="/no/such/file"):
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "COV_"))}
    environment |= env or {}
    if is_injected:
        behind = environment.get("PYTHONPATH")
        environment["PYTHONPATH"] = str(INJECTED) + (os.pathsep + behind if behind else "")
        environment[guest.ENVIRONMENT_VARIABLE] = runs_for
    done = subprocess.run([sys.executable, *arguments], env=environment, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, ""), done
    return done.stdout


@pytest.mark.parametrize("arguments", [["-c", SEEN, "an argument"], ["-P", "-c", SEEN], ["-s", "-B", "-c", SEEN]])
def test_a_program_finds_what_it_would_find(arguments):
    if "-P" in arguments and sys.version_info < (3, 11):
        pytest.skip("-P came with 3.11")
    plain, injected = json.loads(python(*arguments, is_injected=False)), json.loads(python(*arguments))
    environment = injected.pop("environment")
    assert environment.pop("PYTHONPATH") == str(INJECTED)
    assert environment.pop(guest.ENVIRONMENT_VARIABLE)
    assert environment == plain.pop("environment")
    assert injected.pop("finders") == ["_Finder", *plain.pop("finders")]
    assert injected == plain


def test_the_sitecustomize_of_the_user_is_loaded(tmp_path):
    (tmp_path / "sitecustomize.py").write_text("import builtins; builtins.CUSTOM = 'theirs', __name__, __file__\n")
    program = "import sys, sitecustomize; print(CUSTOM, sitecustomize.__file__, sys.path)"
    given = {"PYTHONPATH": str(tmp_path)}
    assert python("-c", program, env=given) == python("-c", program, env=given, is_injected=False)


def test_one_that_fails_fails_as_ever(tmp_path):
    (tmp_path / "sitecustomize.py").write_text("raise ValueError('theirs')\n")
    given = {"PYTHONPATH": str(tmp_path)}
    with pytest.raises(AssertionError) as plain:
        python("-c", "pass", env=given, is_injected=False)
    with pytest.raises(AssertionError) as injected:
        python("-c", "pass", env=given)
    assert "ValueError: theirs" in str(plain.value)
    assert str(injected.value).partition("stderr")[2] == str(plain.value).partition("stderr")[2]


def test_torch_is_imported_as_ever_where_the_run_is_over(tmp_path):
    for name, text in STAND_IN.items():
        path = tmp_path / "torch" / name
        path.parent.mkdir(exist_ok=True, parents=True)
        path.write_text(text)
    (tmp_path / "queue.py").write_text("is_theirs = True\n")  # the runner has imported the library's
    program = "import sys, torch.autograd.profiler, queue; print(torch.__file__, queue.is_theirs, sys.path)"
    given = {"PYTHONPATH": str(tmp_path)}
    assert python("-c", program, env=given) == python("-c", program, env=given, is_injected=False)


def test_a_program_without_torch_starts_as_fast():
    """By the processor's time, the least of several, since others use the machine; 0.3 ms were measured alone."""
    program = "import resource; u = resource.getrusage(resource.RUSAGE_SELF); print(u.ru_utime + u.ru_stime)"
    python("-c", program)
    took = {True: [], False: []}
    began = time.monotonic()
    while len(took[True]) < 12 and time.monotonic() - began < 20:
        for is_injected, times in took.items():
            times.append(float(python("-c", program, is_injected=is_injected)))
    assert min(took[True]) - min(took[False]) < 0.005
