"""A script sees what it would see under `python script.py`, byte for byte, on every Python that is here."""

import json
import shutil
import sys
import zipfile
from pathlib import Path

import pytest

from .conftest import SCRIPTS

PYTHONS = sorted(Path.home().glob(".pyenv/versions/3.*/bin/python"))
PYTHONS = [path for path in PYTHONS if int(path.parts[-3].split(".")[1]) >= 9] or [Path(sys.executable)]
each_python = pytest.mark.parametrize("python", PYTHONS, ids=[path.parts[-3] for path in PYTHONS])


pytestmark = pytest.mark.whole  # they are about the start of Python


def seen_by(ran):
    text = ran.stdout.decode()
    seen, end = json.JSONDecoder().raw_decode(text[text.index("{") :])
    return seen, text[end:]


def same_as_python(kinetoscope, *command, options=(), cwd=SCRIPTS, env=None, python=sys.executable):
    """Runs a script that needs no torch both ways, and compares all that it writes."""
    plain = kinetoscope.python(*command, interpreter=python, cwd=cwd, env=env)
    words = list(command)
    is_module = words[0] == "-m"
    script = words.pop(1) if is_module else words.pop(0)
    rest = words[1:] if is_module else words
    module = ["-m"] if is_module else []
    ours = kinetoscope(script, *rest, options=["--python", python, *options, *module], as_json=False, cwd=cwd, env=env)
    assert ours.stdout == plain.stdout
    assert ours.script_output == plain.stderr
    return plain, ours


@each_python
def test_everything_a_program_can_see_of_its_start_is_the_same(kinetoscope, python):
    _, ours = same_as_python(kinetoscope, "as_python.py", "--", "-a", "two words", "é 训练", python=python)
    assert ours.code == 3
    assert "did not import torch" in ours.messages


@each_python
def test_sigterm_is_to_the_script_and_what_it_starts_what_it_is_in_python(kinetoscope, python):
    _, ours = same_as_python(kinetoscope, "terminates.py", python=python)
    assert b"-15 -15\n" in ours.stdout
    assert ours.stdout.count(b"my handler") == 2


@pytest.mark.parametrize(
    "path", ["./as_python.py", "package/../as_python.py", SCRIPTS / "as_python.py"], ids=["dot", "dots", "absolute"]
)
def test_the_script_s_path_is_the_same_however_it_is_given(kinetoscope, path):
    same_as_python(kinetoscope, str(path))


def test_a_linked_script_and_a_folder_with_a_space_look_the_same(kinetoscope, tmp_path):
    folder = tmp_path / "Räume mit Platz"
    folder.mkdir()
    (folder / "link é.py").symlink_to(SCRIPTS / "as_python.py")
    same_as_python(kinetoscope, "link é.py", cwd=folder)


def test_python_s_own_variables_count(kinetoscope, tmp_path):
    env = {
        "PYTHONWARNINGS": "error",
        "PYTHONDEVMODE": "1",
        "PYTHONOPTIMIZE": "1",
        "PYTHONPATH": str(tmp_path),
        "PYTHONUNBUFFERED": "1",
        "PYTHONDONTWRITEBYTECODE": "1",
    }
    same_as_python(kinetoscope, "as_python.py", env=env)


@pytest.mark.parametrize("how", ["-m", "folder", "zip"])
def test_modules_folders_and_zip_files_look_the_same(kinetoscope, tmp_path, how):
    app = tmp_path / "app"
    app.mkdir()
    shutil.copy(SCRIPTS / "as_python.py", app / "__main__.py")
    shutil.copy(SCRIPTS / "as_python.py", app / "other.py")
    with zipfile.ZipFile(tmp_path / "app.archive", "w") as archive:
        archive.write(app / "__main__.py", "__main__.py")
    command = {"-m": ["-m", "app.other", "x"], "folder": ["app", "x"], "zip": ["app.archive", "x"]}[how]
    same_as_python(kinetoscope, *command, cwd=tmp_path)


@each_python
@pytest.mark.parametrize("how", ["chain", "syntax"])
def test_tracebacks_are_python_s_own(kinetoscope, python, how):
    plain, ours = same_as_python(kinetoscope, "fails.py", how, python=python)
    assert (plain.code, ours.code) == (1, 1)
    assert "The script failed: " in ours.messages


@pytest.mark.parametrize(
    "how",
    ["broken text", "exit text", "exit tuple", "import", "note", "hook", "broken hook"],
)
def test_other_failures_are_shown_as_python_shows_them(kinetoscope, how):
    plain, ours = same_as_python(kinetoscope, "fails.py", how)
    assert (plain.code, ours.code) == (1, 1)


def test_a_recursion_without_end_fails_in_the_script(kinetoscope):
    ran = kinetoscope("fails.py", "recursion")
    assert ran.code == 1
    assert b"    return forever()\n" in ran.script_output
    assert b"runner" not in ran.script_output.replace(b"tests/runner", b"")


def test_a_script_that_closes_its_streams_is_left_alone(kinetoscope):
    same_as_python(kinetoscope, "fails.py", "closed")


@pytest.mark.parametrize(
    "source", ["def (:\n", "print('a')\n  print('b')\n", "1 is 1\n", "# coding: latin-1\nprint('ä')\n"]
)
def test_errors_of_syntax_and_encoding_are_the_same(kinetoscope, tmp_path, source):
    script = tmp_path / "broken é.py"
    script.write_bytes(source.encode("latin-1"))
    same_as_python(kinetoscope, script)


def test_failures_in_a_module_are_the_same(kinetoscope, tmp_path):
    package = tmp_path / "pack"
    package.mkdir()
    (package / "__init__.py").write_text("print('package imported')\n")
    (package / "fails.py").write_text("def f():\n    1 / 0\nf()\n")
    (package / "leaves.py").write_text("import sys\nsys.exit('left')\n")
    same_as_python(kinetoscope, "-m", "pack.fails", cwd=tmp_path)
    same_as_python(kinetoscope, "-m", "pack.leaves", cwd=tmp_path)


def test_modules_named_like_the_standard_library_s_are_found_as_by_python(kinetoscope):
    same_as_python(kinetoscope, "stdlib_names/main.py")
    # On PYTHONPATH they go before the standard library as well; the runner's own imports must not see them.
    variable = "PYTHONPATH", str(SCRIPTS / "stdlib_names")
    plain = kinetoscope.python("fails.py", "chain", env=dict([variable]))
    ours = kinetoscope("fails.py", "chain", options=["--env", "=".join(variable)], as_json=False)
    assert (ours.stdout, ours.script_output) == (plain.stdout, plain.stderr)


def test_the_folder_and_the_environment_can_be_given(kinetoscope, tmp_path):
    (tmp_path / "s.py").write_text("import os\nprint(os.getcwd(), os.environ['ONE'], os.environ['TWO'])\n")
    ran = kinetoscope("s.py", options=["--cwd", tmp_path, "--env", "ONE=1 = one", "--env", "TWO="])
    assert ran.script_output.decode() == f"{tmp_path} 1 = one \n"
    assert kinetoscope("s.py", options=["--cwd", tmp_path / "none"]).code == 2
    assert kinetoscope("no_torch.py", options=["--env", "ONE"]).code == 2
