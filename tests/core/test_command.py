"""What the command says of traces from elsewhere; runs have tests of their own in tests/runner."""

import json
from pathlib import Path

import pytest

from kinetoscope_core.cli import FOUND, main

ROOT = Path(__file__).parents[2]
BEFORE = ROOT / "tests" / "traces" / "h200" / "odd_overhead.json.gz"
SOURCE = "from torch.profiler import record_function\nwith record_function('other'):\n    pass\n"


def test_a_trace_has_findings_to_fail_on_and_a_report(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    report = tmp_path / "findings.sarif"
    source = tmp_path / "script.py"
    source.write_text(SOURCE.replace("other", "tiny_ops"))
    wanted = ["--source", str(source), "--fail-on", "tiny-kernels,idle-gap", "--sarif", str(report)]
    assert main(["read", str(BEFORE), *wanted]) == FOUND
    said = capsys.readouterr().err
    assert "Exit code 4 by --fail-on: tiny-kernels in tiny_ops.\n" in said
    assert "not checked" not in said
    (run,) = json.loads(report.read_bytes())["runs"]
    assert "tiny-kernels" in {result["ruleId"] for result in run["results"]}
    assert main(["read", str(BEFORE), "--fail-on", "idle-gap"]) == 0


def test_a_source_that_is_not_the_one_recorded_is_doubted(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    source = tmp_path / "script.py"
    source.write_text(SOURCE)
    assert main(["read", str(BEFORE), "--source", str(source)]) == 0
    assert "1 region of the trace is not in the source, or more than once: tiny_ops." in capsys.readouterr().err
    source.write_text(SOURCE.replace("other", "tiny_ops"))
    assert main(["read", str(BEFORE), "--source", str(source)]) == 0
    assert "of the trace" not in capsys.readouterr().err


def test_a_code_that_is_nearly_one_is_guessed(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", "tiny-kernel"]) == 2
    assert "Did you mean tiny-kernels?" in capsys.readouterr().err
