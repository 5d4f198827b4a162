"""`kinetoscope doctor`: what it says of interpreters that can measure and of those that cannot. All are real ones."""

import json
import os
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

needs_torch = pytest.mark.skipif(find_spec("torch") is None, reason="no torch here")

COMMAND = [sys.executable, "-m", "kinetoscope_core.cli", "doctor"]
FAKE_TORCH = "import os, sys\n__version__ = '{version}'\n{body}\n"


@pytest.fixture
def doctor(tmp_path):
    def run(*options, **environment):
        plain = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "VIRTUAL_ENV"))}
        done = subprocess.run(
            [*COMMAND, *map(os.fspath, options)],
            cwd=tmp_path,
            env={**plain, "XDG_CACHE_HOME": str(tmp_path / "cache"), "OMP_NUM_THREADS": "1", **environment},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=100,
        )
        assert "Traceback" not in done.stderr
        return done

    return run


@pytest.fixture
def python(tmp_path):
    """An environment with a torch of these lines, or without; its Python."""

    def make(body=None, version="2.13.0"):
        folder = tmp_path / "environment"
        subprocess.run([sys.executable, "-m", "venv", "--without-pip", folder], check=True)
        if body is not None:
            (library,) = folder.glob("lib/python3*/site-packages")
            (library / "torch").mkdir()
            (library / "torch" / "__init__.py").write_text(FAKE_TORCH.format(version=version, body=body))
        return folder / "bin" / "python"

    return make


@needs_torch
def test_an_interpreter_that_measures_is_described_and_nothing_is_left(doctor, tmp_path):
    done = doctor("--python", sys.executable, "--json")
    found = json.loads(done.stdout)
    assert done.returncode == 0, found
    assert found["measures"] == ("cpu" if found["examined"]["recorded"]["gpu"] is None else "gpu")
    assert found["interpreter"] == {"path": sys.executable, "why": "the one that was set", "passed_over": []}
    assert found["examined"]["python"] == ".".join(map(str, sys.version_info[:3]))
    assert found["examined"]["torch"]["error"] is None
    assert found["examined"]["recorded"]["cpu"] is True
    assert (found["is_preparable"], found["why_not_prepared"]) == (True, None)
    assert found["cache"]["folder"] == str(tmp_path / "cache" / "kinetoscope")
    assert list(Path(found["cache"]["folder"]).rglob("*")) == [Path(found["cache"]["folder"]) / "new"]
    assert found["packages"]["msgspec"]
    assert "starts the profiler once" in done.stderr


@pytest.mark.parametrize(
    ("body", "said"),
    [
        (
            None,
            "has no torch: install it there, or name another Python with --python (in an editor: the setting",
        ),
        (
            "import torch.none",
            "cannot import torch (ModuleNotFoundError: No module named 'torch.none'): repair this, or",
        ),
        ("raise OSError('libcudart.so.13: cannot open')", "(OSError: libcudart.so.13: cannot open): repair this"),
        ("sys.exit('no licence')", "cannot import torch (SystemExit: no licence): repair this"),
        ("os.write(2, b'undefined symbol\\n'); os.abort()", "could not be checked: its process ended (signal SIGABRT)"),
        ("os.write(2, b'bad\\n'); os._exit(3)", "ended (exit code 3) before torch was imported; last it wrote: bad."),
    ],
)
def test_a_torch_that_cannot_be_imported_is_named_with_the_way_out(doctor, python, body, said):
    path = python(body)
    done = doctor("--python", path)
    assert done.returncode == 2
    assert "\nRegions cannot be measured.\n" in done.stdout
    assert f"- {path} " in done.stdout
    assert said in done.stdout


def test_a_torch_that_is_too_old_or_fails_later_is_said(doctor, python):
    cuda = "class cuda:\n    is_initialized = staticmethod(lambda: False)\nclass version:\n    cuda = None"
    done = doctor("--python", python(cuda, version="2.0.1"))
    assert done.returncode == 2
    assert "- torch 2.0.1 is older than 2.1: install a newer one" in done.stdout
    assert "torch 2.0.1 is built without CUDA" in done.stdout
    assert "- torch.profiler does not work there: ModuleNotFoundError: No module named 'torch.profiler'" in done.stdout


def test_where_no_python_has_torch_all_that_were_looked_at_are_named(doctor, python, tmp_path):
    bare = python()
    done = doctor("--python", tmp_path / "none")
    assert done.returncode == 2
    assert f"- No Python interpreter at {tmp_path}/none." in done.stdout
    # The command itself runs in an environment without torch, as in one of pipx's.
    core = Path(__file__).parents[2] / "profiler_core"
    libraries = next(each for each in sys.path if each.endswith("site-packages"))
    program = f"import sys; sys.path += [{str(core)!r}, {libraries!r}]; from kinetoscope_core.cli.main import main\n"
    program += "sys.modules['torch'] = None\nimport importlib.util as u; u.find_spec = lambda name: None\n"
    program += "sys.exit(main(['doctor']))"
    done = subprocess.run(
        [bare, "-c", program],
        cwd=tmp_path,
        env={"PATH": str(tmp_path), "XDG_CACHE_HOME": str(tmp_path / "cache")},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 2, done.stderr
    said = f"- No Python with torch was found. Looked at: {bare} (the Python that Kinetoscope runs in) has no torch."
    assert said in done.stdout


def test_where_the_chosen_python_has_no_torch_others_that_have_it_are_named_with_the_command(doctor, tmp_path):
    bare, conda = tmp_path / "bare", tmp_path / "home" / "miniforge3" / "envs" / "my model"
    for folder in (bare, conda):
        subprocess.run([sys.executable, "-m", "venv", "--without-pip", folder], check=True)
    (conda / "conda-meta").mkdir()
    (library,) = conda.glob("lib/python3*/site-packages")
    (library / "torch").mkdir()
    (library / "torch" / "version.py").write_text("__version__ = '2.11.0+cu130'\ncuda: str | None = '13.0'\n")
    done = doctor("--python", bare / "bin" / "python", HOME=str(tmp_path / "home"))
    assert done.returncode == 2
    command = f"kinetoscope profile --python '{conda}/bin/python' SCRIPT (in an editor: the setting"
    assert f"torch 2.11.0+cu130, CUDA 13.0): {command} kinetoscope.interpreter)." in done.stdout
    assert "- To use conda environment my model (Python 3." in done.stdout


def test_a_cache_that_cannot_be_written_keeps_regions_from_being_measured(doctor, python, tmp_path):
    (tmp_path / "a file").write_text("")
    done = doctor("--python", python(), XDG_CACHE_HOME=str(tmp_path / "a file"))
    assert done.returncode == 2
    assert "cannot be written (Not a directory); set XDG_CACHE_HOME to another one." in done.stdout
