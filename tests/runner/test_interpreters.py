"""Interpreters that cannot do it, and a cache that cannot be written."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.whole


def test_an_interpreter_without_torch_is_said_to_have_none(kinetoscope, tmp_path):
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", tmp_path / "bare"], check=True)
    python = tmp_path / "bare" / "bin" / "python"
    ran = kinetoscope("endings.py", "x", options=["--python", python])
    assert ran.code == 1
    assert b"ModuleNotFoundError: No module named 'torch'" in ran.script_output
    assert f"{python} has no torch" in ran.messages
    assert not ran.stdout


@pytest.mark.parametrize("version", ["2.7", "3.6", "3.8"])
def test_an_old_interpreter_is_refused(kinetoscope, version):
    found = sorted(Path.home().glob(f".pyenv/versions/{version}.*/bin/python"))
    if not found:
        pytest.skip(f"no Python {version} here")
    ran = kinetoscope("endings.py", "x", options=["--python", found[0]])
    assert ran.code == 2
    assert f"is Python {version}; scripts need 3.9 or newer" in ran.messages
    assert not ran.script_output


def test_what_is_no_interpreter_is_refused(kinetoscope, tmp_path):
    text = tmp_path / "text"
    text.write_text("not a program")
    text.chmod(0o755)
    for path in ("/bin/ls", "/bin/false", text, tmp_path / "none", tmp_path):
        ran = kinetoscope("endings.py", "x", options=["--python", path])
        assert ran.code == 2, ran
        assert str(path) in ran.messages
        assert "--python" in ran.messages
        assert not ran.stdout


def test_a_cache_that_cannot_be_written_is_said(kinetoscope, tmp_path):
    in_the_way = tmp_path / "a file"
    in_the_way.write_text("")
    ran = kinetoscope("no_torch.py", env={"XDG_CACHE_HOME": str(in_the_way)})
    assert ran.code == 2
    assert "XDG_CACHE_HOME" in ran.messages
    assert not ran.script_output


def test_a_long_temporary_folder_is_no_obstacle(kinetoscope, tmp_path):
    folder = tmp_path / ("long" * 40)
    folder.mkdir()
    ran = kinetoscope("no_torch.py", env={"TMPDIR": str(folder)})
    assert ran.code == 3, ran
    assert ran.script_output == b"nothing to see\n"


def test_descriptors_that_a_shell_passes_on_reach_the_script(kinetoscope, tmp_path):
    (tmp_path / "s.py").write_text("import sys\nprint(open(sys.argv[1]).read())\n")
    read, write = os.pipe()
    os.write(write, b"through the pipe")
    os.close(write)
    ran = kinetoscope(tmp_path / "s.py", f"/dev/fd/{read}", pass_fds=[read])
    os.close(read)
    assert ran.script_output == b"through the pipe\n", ran
