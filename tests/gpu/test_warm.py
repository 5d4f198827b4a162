"""The prepared interpreter with CUDA: a script finds CUDA untouched, and what that cannot do runs in a new one."""

import os
import subprocess
from types import SimpleNamespace

import pytest

from ..runner.worker import Worker  # noqa: TID252 - tests are no package with a name
from .conftest import SCRIPTS
from .test_server import keep

STATE = "../../runner/scripts/state.py"

pytestmark = pytest.mark.gpu


@pytest.fixture
def runs(tmp_path):
    environment = {**os.environ, "XDG_CACHE_HOME": str(tmp_path / "cache")}
    return SimpleNamespace(environment=environment, popen=subprocess.Popen)


def cold_and_warm(runs, script, *only_warm, until="result"):
    """The script in a new interpreter, and in one that was prepared after it, there with these arguments."""
    cold = Worker(runs, SCRIPTS)
    result = cold.profile(script)
    assert result["event"] == "result", cold.output
    assert result["preparation"]["cuda"] is True
    warm = Worker(runs, SCRIPTS)
    prepared = warm.prepare(result["preparation"])
    assert prepared["event"] == "prepared", prepared
    assert prepared["cuda"] is True
    last = warm.profile(script, *only_warm)
    assert until == "any" or last["event"] == "result", warm.output
    return cold, warm, last


def test_everything_of_cuda_that_a_script_can_see_is_the_same(runs):
    cold, warm, last = cold_and_warm(runs, STATE)
    keep("warm_state.txt", cold.output + "\n=== warm\n" + warm.output)
    assert last["is_prepared"] is True, warm.events
    assert warm.output_by_stream == cold.output_by_stream
    assert '"cuda random"' in cold.output


def test_the_trace_is_complete(runs):
    cold, _, last = cold_and_warm(runs, "sets_devices.py")
    first = next(event for event in cold.events if event["event"] == "result")
    regions = [next(r for r in each["result"]["regions"] if r["name"] == "step") for each in (first, last)]
    for of in ("calls", "measured"):
        assert regions[0][of] == regions[1][of]
    for of in ("launches", "cuda_total_ns"):
        assert regions[0][of] is not None
        assert regions[1][of] is not None
    assert regions[0]["launches"] == regions[1]["launches"]


@pytest.mark.parametrize(
    ("argument", "why"),
    [
        ("hide", "The script sets CUDA_VISIBLE_DEVICES before it uses CUDA"),
        ("fork", "A process that the script forks uses CUDA"),
    ],
)
def test_what_a_prepared_cuda_cannot_do_is_an_error_that_says_so(runs, argument, why):
    warm = cold_and_warm(runs, "sets_devices.py", argument, until="any")[1]
    assert warm.why("needs_cold") == []
    assert warm.output.count("before") >= 1
    assert why in warm.output
    assert "Run it again without preparation." in warm.output


def test_a_data_loader_with_workers_and_variables_that_cuda_does_not_read_are_no_obstacle(runs):
    cold, warm, last = cold_and_warm(runs, "loads.py")
    assert last["is_prepared"] is True, warm.events
    assert warm.output_by_stream == cold.output_by_stream
    assert "loaded 20" in warm.output
