"""A few hundred of the damaged traces of benchmarks/fuzz_traces.py, which reads as many as one likes."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.skipif(
    sys.platform == "win32", reason="the limits on time and memory are those of POSIX (setitimer, getrusage)"
)

FUZZ = Path(__file__).parents[2] / "benchmarks" / "fuzz_traces.py"


def test_damaged_traces_end_in_numbers_that_keep_the_laws_or_in_one_clear_line() -> None:
    command = [sys.executable, str(FUZZ), "--seed-from", "0", "--count", "300"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=500, check=False)
    assert done.returncode == 0, done.stdout
    assert json.loads(done.stdout)["faults"] == 0


def test_what_was_found_once_stays_mended() -> None:
    """8852: an integer of more than 64 bits in the JSON."""
    command = [sys.executable, str(FUZZ), "--seed-from", "8852", "--count", "1"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert (done.returncode, json.loads(done.stdout)["faults"]) == (0, 0)


def test_a_number_always_makes_the_same_trace(tmp_path: Path) -> None:
    for name in ("a", "b"):
        subprocess.run([sys.executable, str(FUZZ), "--write", "7", str(tmp_path / name)], check=True, timeout=120)
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()
