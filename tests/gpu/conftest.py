"""GPU tests run `kinetoscope` as a user would, and keep what they saw in $OUT."""

import json
import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SCRIPTS = Path(__file__).parent / "scripts"


@pytest.fixture(autouse=True)
def _needs_cuda():
    torch = pytest.importorskip("torch")
    if not torch.cuda.is_available():
        if os.environ.get("KINETOSCOPE_GPU_TESTS"):
            pytest.fail("run_all.sh was called on a machine without a CUDA GPU")
        pytest.skip("needs a CUDA GPU (tests/gpu/run_all.sh)")


@dataclass
class Ran:
    code: int
    stdout: str
    stderr: str

    @property
    def result(self):
        return json.loads(self.stdout)

    def region(self, name):
        found = [region for region in self.result["regions"] if region["name"] == name and region["file"]]
        assert len(found) == 1, self.stdout + self.stderr
        return found[0]


@pytest.fixture
def kinetoscope(request):
    """Runs the command with --json; the result and the trace are kept under the test's name."""

    def run(*arguments, keep_as=None, env=None, timeout=180):
        command = [sys.executable, "-m", "kinetoscope_core.cli", *map(str, arguments)]
        done = subprocess.run(
            command,
            cwd=ROOT,
            env={**os.environ, **(env or {})},
            capture_output=True,
            text=True,
            timeout=timeout,
            stdin=subprocess.DEVNULL,
        )
        ran = Ran(done.returncode, done.stdout, done.stderr)
        if keep_as and ran.stdout and "OUT" in os.environ:
            kept = Path(os.environ["OUT"]) / "results"
            kept.mkdir(exist_ok=True, parents=True)
            (kept / f"{keep_as}.json").write_text(ran.stdout)
            traces = [Path(trace) for trace in ran.result.get("traces", ())]
            for file in [*traces, *(each.with_name("regionlog.json") for each in traces[:1])]:
                of_process = f"{file.parent.name}." if file.parent.name.startswith("process-") else ""
                shutil.copy(file, kept / f"{keep_as}.{of_process}{file.name}")
        return ran

    return run
