"""The details panel of the VS Code extension in a real browser, with an H200's numbers, by keyboard and mouse.

VS Code around it is played: extension/test/harness.
"""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
HARNESS = ROOT / "extension" / "test" / "harness"
TRACE = ROOT / "tests" / "traces" / "h200" / "train_mlp.json.gz"


@pytest.fixture(scope="module")
def sample(tmp_path_factory):
    out = tmp_path_factory.mktemp("panel") / "run.json"
    made_from = [str(TRACE), "--source", str(ROOT / "examples" / "train_mlp.py")]
    subprocess.run([sys.executable, str(Path(__file__).with_name("panel_sample.py")), str(out), *made_from], check=True)
    return out


@pytest.mark.timeout(240)
def test_the_panel_works_by_keyboard_and_mouse_in_every_theme(browser, sample):
    variables = os.environ | {"CHROMIUM": browser.chromium, "SAMPLE": str(sample)}
    command = [browser.node, "--test", str(HARNESS / "panel.test.mjs")]
    done = subprocess.run(command, env=variables, capture_output=True, text=True, check=False, timeout=220)
    assert done.returncode == 0, done.stdout
    assert "# pass 15" in done.stdout
