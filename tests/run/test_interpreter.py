"""Which Python runs a script where none is named: environments that are there or not, with torch or without."""

import os
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

from kinetoscope_core.errors import InterpreterError
from kinetoscope_core.run.interpreter import find_interpreter
from kinetoscope_core.runner.request import RunRequest

needs_torch = pytest.mark.skipif(find_spec("torch") is None, reason="no torch here")

pytestmark = pytest.mark.skipif(os.name == "nt", reason="its environments are laid out in another way")


def environment(folder: Path, *, torch: bool) -> str:
    """A virtual environment, in which a torch is there to be found, or not; its Python."""
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", folder], check=True)
    if torch:
        (library,) = folder.glob("lib/python3*/site-packages")
        (library / "torch").mkdir()
        (library / "torch" / "__init__.py").touch()
    return str(folder / "bin" / "python")


@pytest.fixture
def work(tmp_path, monkeypatch):
    """A working directory in which nothing is active, and no Python is on the path."""
    for variable in ("VIRTUAL_ENV", "CONDA_PREFIX"):
        monkeypatch.delenv(variable, raising=False)
    (tmp_path / "bin").mkdir()
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    folder = tmp_path / "work"
    (folder / "src" / "model").mkdir(parents=True)
    monkeypatch.chdir(folder)
    return folder


def test_an_active_environment_goes_before_those_beside_the_script(work, monkeypatch):
    active, conda = environment(work / "active", torch=True), environment(work / "conda", torch=True)
    beside = environment(work / ".venv", torch=True)
    monkeypatch.setenv("CONDA_PREFIX", str(work / "conda"))
    assert find_interpreter(RunRequest("")).path == conda
    monkeypatch.setenv("VIRTUAL_ENV", str(work / "active"))
    found = find_interpreter(RunRequest("src/train.py"))
    assert (found.path, found.why, found.passed_over) == (active, "the active environment, $VIRTUAL_ENV", ())
    assert find_interpreter(RunRequest("", interpreter=beside)).path == beside


def test_an_environment_without_torch_is_passed_over_and_named(work, monkeypatch):
    bare, beside = environment(work / "bare", torch=False), environment(work / ".venv", torch=True)
    monkeypatch.setenv("VIRTUAL_ENV", str(work / "bare"))
    found = find_interpreter(RunRequest("train.py"))
    assert found.path == beside
    assert found.passed_over == (f"{bare} (the active environment, $VIRTUAL_ENV) has no torch",)
    assert find_interpreter(RunRequest("", interpreter=bare)).path == bare  # what is named is taken as it is


@needs_torch
def test_the_nearest_environment_up_to_the_working_directory_is_taken(work):
    near, far = environment(work / "src" / ".venv", torch=True), environment(work.parent / ".venv", torch=True)
    assert find_interpreter(RunRequest("src/model/train.py")).path == near
    assert find_interpreter(RunRequest(str(work / "src" / "train.py"))).path == near
    # Above the working directory, another project may begin.
    assert find_interpreter(RunRequest("train.py")).path == sys.executable
    assert find_interpreter(RunRequest("train.py", top=str(work.parent))).path == far
    # A module is looked for from the working directory on.
    assert find_interpreter(RunRequest("model.train")).path == sys.executable
    assert find_interpreter(RunRequest("model.train", folder="src")).path == near
    assert find_interpreter(RunRequest("train.py", folder="src/model/..")).path == near
    # A script from elsewhere runs here all the same.
    assert find_interpreter(RunRequest("../elsewhere/train.py", folder="src")).path == near


@needs_torch
def test_pythons_on_the_path_are_asked_and_our_own_is_the_last(work, monkeypatch):
    on_path = work.parent / "bin" / "python3"
    on_path.write_text(f'#!/bin/sh\nexec {environment(work / "bare", torch=False)} "$@"\n')
    on_path.chmod(0o755)
    found = find_interpreter(RunRequest(""))
    assert (found.path, found.why) == (sys.executable, "the Python that Kinetoscope runs in")
    assert found.passed_over == ()  # nobody has said that it is the one
    # A folder of that name in the working directory is none of its modules.
    (work / "torch").mkdir()
    (work / "torch" / "__init__.py").touch()
    assert find_interpreter(RunRequest("")).path == sys.executable
    (work.parent / "modules" / "torch").mkdir(parents=True)
    (work.parent / "modules" / "torch" / "__init__.py").touch()
    monkeypatch.setenv("PYTHONPATH", str(work.parent / "modules"))
    assert find_interpreter(RunRequest("")).path == str(on_path)


def test_where_none_has_torch_the_error_says_which_were_looked_at(work, monkeypatch):
    bare = environment(work / ".venv", torch=False)
    on_path = work.parent / "bin" / "python3"
    on_path.write_text("#!/bin/sh\nexit 3\n")
    on_path.chmod(0o755)
    monkeypatch.setattr(sys, "executable", bare + "3")  # an environment of its own has no torch
    monkeypatch.setattr("importlib.util.find_spec", lambda _name: None)
    with pytest.raises(InterpreterError) as caught:
        find_interpreter(RunRequest(""))
    assert str(caught.value) == (
        f"No Python with torch was found. Looked at: {bare} (the .venv of {work}) has no torch; {on_path} (python3 on"
        f" PATH) is no Python 3 that works; {bare}3 (the Python that Kinetoscope runs in) has no torch. Name the one"
        " that has it with --python (in an editor: the setting kinetoscope.interpreter)."
    )
