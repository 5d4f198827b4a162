"""The Pythons that are found, and what files tell of them and their torch. None of them may be started."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from kinetoscope_core.run import pythons as module
from kinetoscope_core.run.pythons import python_at, pythons

pytestmark = pytest.mark.skipif(os.name == "nt", reason="its environments are laid out in another way")

OURS = sys.executable
VERSION_PY = """from typing import Optional
__all__ = ['__version__', 'debug', 'cuda', 'hip']
__version__ = '2.11.0+cu130'
cuda: Optional[str] = '13.0'
hip: Optional[str] = None
"""


@pytest.fixture
def home(tmp_path, monkeypatch):
    """A machine on which nothing is installed; what is started there leaves a trace."""
    named = ("VIRTUAL_ENV", "CONDA_PREFIX", "PYENV_ROOT", "UV_PYTHON_INSTALL_DIR", "XDG_DATA_HOME", "PYTHONPATH")
    for variable in named:
        monkeypatch.delenv(variable, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    monkeypatch.setattr(sys, "executable", python(tmp_path / "own"))
    yield tmp_path
    assert not (tmp_path / "started").exists()


def python(prefix: Path, name: str = "python") -> str:
    """Something that could be started as an interpreter."""
    file = prefix / "bin" / name
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(f"#!/bin/sh\ntouch {os.environ['HOME']}/started\n")
    file.chmod(0o755)
    return str(file)


def venv(folder: Path, *torch: str, more: str = "") -> str:
    """A virtual environment of Python 3.12.4; `torch` as for `install`."""
    path = python(folder)
    (folder / "pyvenv.cfg").write_text(f"home = /usr/bin\nversion = 3.12.4\n{more}")
    install(folder / "lib" / "python3.12" / "site-packages", *torch)
    return path


def install(library: Path, *torch: str) -> None:
    """A torch with that text as its version.py, or with a kept folder of that name, in a folder of packages."""
    library.mkdir(parents=True, exist_ok=True)
    for each in torch:
        if each.endswith(".dist-info"):
            (library / each).mkdir()
        else:
            (library / "torch").mkdir()
            (library / "torch" / "version.py").write_text(each)


def texts(root=None, named=()):
    return {each.where: each.text for each in pythons(root, named)}


def test_environments_of_the_workspace_are_found_and_those_with_torch_come_first(home):
    work = home / "work"
    venv(work / ".venv")
    venv(work / "gpu", VERSION_PY)
    python(work / "no-environment")
    venv(work / "deep" / "er", VERSION_PY)
    (work / "broken" / "bin").mkdir(parents=True)
    (work / "broken" / "pyvenv.cfg").write_text("version = 3.12.4\n")
    (work / "broken" / "bin" / "python").symlink_to("/nowhere/python3")
    found = pythons(work)
    assert [(each.where, each.has_torch) for each in found] == [
        ("gpu of the workspace", True),
        ("the Python that Kinetoscope runs in", None),
        (".venv of the workspace", False),
    ]
    assert found[0].path == str(work / "gpu" / "bin" / "python")
    assert texts(work) == {
        "gpu of the workspace": "Python 3.12.4 · torch 2.11.0+cu130, CUDA 13.0",
        "the Python that Kinetoscope runs in": "Python (version not known) · torch not known",
        ".venv of the workspace": "Python 3.12.4 · no torch",
    }


def test_active_ones_those_of_conda_pyenv_and_uv_and_those_on_path_are_found(home, monkeypatch):
    active = venv(home / "active")
    monkeypatch.setenv("VIRTUAL_ENV", str(home / "active"))
    elsewhere, ml = home / "data" / "envs" / "listed", home / "miniforge3" / "envs" / "ml"
    for prefix in (elsewhere, ml, home / "miniforge3"):
        python(prefix)
        (prefix / "conda-meta").mkdir()
        (prefix / "conda-meta" / "python-3.11.9-h955ad1f_0_cpython.json").touch()
        install(prefix / "lib" / "python3.11" / "site-packages")
    (home / ".conda").mkdir()
    (home / ".conda" / "environments.txt").write_text(f"{elsewhere}\n{ml}\n/gone\n")
    install(ml / "lib" / "python3.11" / "site-packages", "torch-2.4.1.dist-info")
    for name in ("3.10.13", "3.8.18", "2.7.18"):
        python(home / ".pyenv" / "versions" / name)
    (home / ".pyenv/versions/3.10.13/lib/python3.10/site-packages").mkdir(parents=True)
    python(home / ".local/share/uv/python/cpython-3.13.1-linux-x86_64-gnu", "python3")
    (home / "bin").mkdir()
    (home / "bin" / "python3").symlink_to(python(home / "usr", "python3.11"))
    (home / "bin" / "python").symlink_to("python3")
    assert texts(None, [(active, "selected"), (venv(home / "own env"), "selected"), ("/nowhere/python", "gone")]) == {
        "conda environment ml": "Python 3.11.9 · torch 2.4.1, CUDA not known",
        "uv": "Python 3.13.1 · torch not known",
        "python3 on PATH": "Python 3.11 · torch not known",
        "the Python that Kinetoscope runs in": "Python (version not known) · torch not known",
        "active, $VIRTUAL_ENV": "Python 3.12.4 · no torch",
        "selected": "Python 3.12.4 · no torch",
        "conda environment listed": "Python 3.11.9 · no torch",
        "conda environment base": "Python 3.11.9 · no torch",
        "pyenv 3.10.13": "Python 3.10.13 · no torch",
    }


def test_any_python_says_what_there_is_without_the_server(home):
    path = venv(home / "work" / ".venv", VERSION_PY)
    said = subprocess.run([OURS, "-I", module.__file__, home / "work"], check=True, capture_output=True).stdout
    assert json.loads(said)[0] == {
        "path": path,
        "where": ".venv of the workspace",
        "text": "Python 3.12.4 · torch 2.11.0+cu130, CUDA 13.0",
        "has_torch": True,
    }


@pytest.mark.parametrize(
    ("told", "text"),
    [
        (VERSION_PY.replace("'13.0'", "None"), "torch 2.11.0+cu130, built without CUDA"),
        ("__version__ = '2.1.0'\ncuda = None\nhip = '6.2'\n", "torch 2.1.0, ROCm 6.2"),
        ("__version__ = '1.13.1'\ncuda = '11.7'\n", "torch 1.13.1, CUDA 11.7"),
        ("__version__ = '2.9.0a0'\n", "torch 2.9.0a0, CUDA not known"),
        ("from torch import nothing\n", "no torch"),
    ],
)
def test_what_a_torch_was_built_for_is_read_and_not_guessed(home, told, text):
    assert python_at(venv(home / "env", told)).text == f"Python 3.12.4 · {text}"


def test_torch_is_looked_for_where_that_python_imports_from(home, monkeypatch):
    library = home / "env" / "lib" / "python3.12" / "site-packages"
    path = venv(home / "env")
    assert python_at(path).has_torch is False
    (library / "more.pth").write_text("# a comment\nimport sys\n../elsewhere\n")
    install(library.parent / "elsewhere", VERSION_PY)
    assert python_at(path).has_torch
    (library / "more.pth").unlink()
    monkeypatch.setenv("PYTHONPATH", str(library.parent / "elsewhere"))
    assert python_at(path).has_torch
    monkeypatch.delenv("PYTHONPATH")
    install(home / ".local" / "lib" / "python3.12" / "site-packages", VERSION_PY)
    assert python_at(path).has_torch is False, "a virtual environment does not see what the user has installed"
    with_system = venv(home / "open", more="include-system-site-packages = true\n")
    (home / "open" / "pyvenv.cfg").write_text(
        f"home = {home}/base/bin\nversion = 3.12.4\ninclude-system-site-packages = true\n"
    )
    install(home / "base" / "lib" / "python3.12" / "site-packages", "torch-2.4.1.dist-info")
    assert python_at(with_system).torch.version == "2.4.1"


def test_what_cannot_be_read_or_leads_in_a_circle_hides_nothing_else(home, monkeypatch):
    work, odd = home / "work", home / "work" / "odd"
    path = venv(work / ".venv", VERSION_PY)
    venv(odd, more=f"home = {odd}/bin\ninclude-system-site-packages = true\n")
    (odd / "lib" / "python3.12" / "site-packages" / "long.pth").write_text("x" * 5000)
    look = Path.is_dir

    def is_dir(folder):
        if folder == work / "closed":
            raise PermissionError
        return look(folder)

    (work / "closed").mkdir()
    monkeypatch.setattr(Path, "is_dir", is_dir)
    assert [(each.path, each.has_torch) for each in pythons(work)][:3:2] == [(path, True), (f"{odd}/bin/python", False)]
