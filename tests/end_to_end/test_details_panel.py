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
TRACES = ROOT / "tests" / "traces" / "h200"

pytestmark = [pytest.mark.timeout(240), pytest.mark.beside]


@pytest.fixture(scope="module")
def sample(tmp_path_factory):
    source = ROOT / "examples" / "train_mlp.py"
    return _made(tmp_path_factory, str(TRACES / "train_mlp.json.gz"), "--source", str(source))


@pytest.fixture(scope="module")
def compared(tmp_path_factory):
    eager, compiled = (TRACES / f"matmul_add_4096_{each}.json.gz" for each in ("warm", "compile"))
    return _made(tmp_path_factory, str(compiled), "--before", str(eager))


@pytest.fixture(scope="module")
def modules(tmp_path_factory):
    return _made(tmp_path_factory, str(Path(__file__).with_name("recorded") / "lightning_modules.json.gz"))


def _made(tmp_path_factory, *made_from):
    out = tmp_path_factory.mktemp("panel") / "run.json"
    subprocess.run([sys.executable, str(Path(__file__).with_name("panel_sample.py")), str(out), *made_from], check=True)
    return out


def test_the_panel_works_by_keyboard_and_mouse_in_every_theme(browser, sample):
    _passes(browser, sample, "panel.test.mjs", 16)


def test_two_runs_are_two_columns_and_two_lanes_on_one_scale(browser, compared):
    _passes(browser, compared, "compared.test.mjs", 9)


def test_modules_are_a_chart_that_opens_by_keyboard(browser, modules):
    _passes(browser, modules, "modules.test.mjs", 5)


def _passes(browser, sample, tests, count):
    variables = os.environ | {"CHROMIUM": browser.chromium, "SAMPLE": str(sample)}
    command = [browser.node, "--test", str(HARNESS / tests)]
    done = subprocess.run(command, env=variables, capture_output=True, text=True, check=False, timeout=220)
    assert done.returncode == 0, done.stdout
    assert f"# pass {count}\n" in done.stdout
