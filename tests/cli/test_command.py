"""What the command says of traces from elsewhere; runs have tests of their own in tests/runner."""

import json
import re
from dataclasses import replace
from pathlib import Path
from zipfile import ZipFile

import pytest

from kinetoscope_core.cli.gates import CANNOT_TELL, FOUND
from kinetoscope_core.cli.main import main
from kinetoscope_core.jobs.measure import measure_traces
from kinetoscope_core.results.result import RunInfo, to_json
from kinetoscope_core.results.store import Store
from kinetoscope_core.run.script_file import check_script

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
    assert "Exit code 4, because --fail-on found: tiny-kernels in tiny_ops.\n" in said
    assert "not checked" not in said
    (run,) = json.loads(report.read_bytes())["runs"]
    assert "tiny-kernels" in {result["ruleId"] for result in run["results"]}
    assert main(["read", str(BEFORE), "--fail-on", "idle-gap"]) == 0


@pytest.mark.parametrize(
    ("expected", "code", "said"),
    [
        ("cuda < 1ms, launches = 200", 0, ""),
        ("cuda < 1us", FOUND, "Exit code 4, because --check found broken: cuda < 1us in tiny_ops."),
        ("cuda < 1us, cuda < 3", FOUND, "Exit code 4, because --check found broken: cuda < 1us in tiny_ops."),
        ("cuda < 1ms, cuda < 3", CANNOT_TELL, "Exit code 5, because --check cannot tell: cuda < 3 at line 2."),
        (None, CANNOT_TELL, "Exit code 5, because --check found no expectation at a region"),
    ],
)
def test_expectations_are_a_gate_where_it_is_asked_for(
    expected: str | None, code: int, said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    report = tmp_path / "report.sarif"
    source = tmp_path / "script.py"
    comment = "" if expected is None else f"  # kinetoscope: expect {expected}"
    source.write_text(SOURCE.replace("other", "tiny_ops").replace("'):", f"'):{comment}"))
    reading = ["read", str(BEFORE), "--source", str(source), "--sarif", str(report)]
    assert main(reading) == 0
    told = capsys.readouterr().out
    assert ("\nExpectations\n" in told) == (expected is not None)
    assert ("script.py:2  broken: cuda < 1us  tiny_ops: CUDA " in told) == (code == FOUND)
    assert ("script.py:2  not checked: cuda < 3  3 has no unit." in told) == ("3" in (expected or ""))
    assert main([*reading, "--check"]) == code
    assert said in capsys.readouterr().err
    (run,) = json.loads(report.read_bytes())["runs"]
    broken = [each for each in run["results"] if each["ruleId"] == "expectation"]
    assert [(each["level"], each["locations"][0]["physicalLocation"]["region"]) for each in broken] == (
        [("error", {"startLine": 2})] if code == FOUND else []
    )


def test_a_series_of_names_is_one_result_of_the_report(tmp_path: Path) -> None:
    report = tmp_path / "findings.sarif"
    source = tmp_path / "serve.py"
    source.write_text(SOURCE.replace("'other'", "f'step[DECODE bs={bs} it={it}]'"))
    trace = ROOT / "tests" / "traces" / "cases" / "r05_numbered_steps.json"
    assert main(["read", str(trace), "--source", str(source), "--sarif", str(report)]) == 0
    (run,) = json.loads(report.read_bytes())["runs"]
    found = [
        (
            each["ruleId"],
            each["partialFingerprints"]["kinetoscope/v1"],
            each["locations"][0]["physicalLocation"]["region"]["startLine"],
        )
        for each in run["results"]
    ]
    assert found == [("mixed", "mixed:step[DECODE bs=N it=N]", 2)]


def test_a_source_that_is_not_the_one_recorded_is_doubted(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    source = tmp_path / "script.py"
    source.write_text(SOURCE)
    assert main(["read", str(BEFORE), "--source", str(source)]) == 0
    assert (
        "1 region of the trace stands nowhere in the source, or at several lines: tiny_ops." in capsys.readouterr().err
    )
    source.write_text(SOURCE.replace("other", "tiny_ops"))
    assert main(["read", str(BEFORE), "--source", str(source)]) == 0
    assert "of the trace" not in capsys.readouterr().err


def test_a_code_that_is_nearly_one_is_guessed(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", "tiny-kernel"]) == 2
    assert "Did you mean tiny-kernels?" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("name", "content", "text"),
    [
        ("a.ipynb", "{}", "jupyter nbconvert --to script a.ipynb"),
        ("run.sh", "set -e\nexec python train.py\n", "run.sh is a shell script, not Python."),
        ("run", "#!/usr/bin/env bash\nset -e\n", "its first line is #!/usr/bin/env bash"),
        (
            "run.sh",
            '#!/bin/bash\n# Starts a training.\nset -e\ncd "$(dirname "$0")/.."\nexec python train.py\n',
            "run.sh is a shell script (its first line is #!/bin/bash), not Python.",
        ),
        ("a.txt", "#!/bin/sh\nset -e\n", "is a shell script"),
        ("config.json", '{"a": 1}', "is data"),
        ("program", "\x7fELF\0\0", "not Python source"),
    ],
)
def test_what_is_no_python_is_not_run_as_python(
    name: str, content: str, text: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    script = tmp_path / name
    script.write_text(content)
    assert main(["profile", str(script)]) == 2
    assert text in capsys.readouterr().err


@pytest.mark.parametrize("name", ["script", "script.txt", "script.run"])
@pytest.mark.parametrize(
    "content",
    [
        "import sys\n",
        "#!/usr/bin/env -S uv run --script\nimport sys\n",
        "#!/bin/sh\n'''exec' python3 \"$0\" \"$@\"\n' '''\nimport sys\n",
    ],
)
def test_a_python_script_may_have_any_name(name: str, content: str, tmp_path: Path) -> None:
    script = tmp_path / name
    script.write_text(content)
    check_script(script)
    folder = tmp_path / "folder"
    folder.mkdir()
    check_script(folder)
    archive = tmp_path / "archive.bin"
    with ZipFile(archive, "w") as file:
        file.writestr("__main__.py", content)
    check_script(archive)


def test_several_sources_after_one_option_are_told_how_to_be_given(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["read", "t.json", "--source", "a.py", "b.py", "c.py"]) == 2
    assert "each file has a --source of its own: --source b.py --source c.py" in capsys.readouterr().err


def test_a_stored_run_is_listed_pinned_and_deleted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setenv("COLUMNS", "200")
    store = Store()
    folder = store.new_folder()
    source = tmp_path / "tiny.py"
    source.write_text(SOURCE.replace("other", "tiny_ops"))
    started = "2026-08-31T12:00:00+00:00"
    ran = RunInfo(str(source), False, ("--n", "1"), "python", None, started, 1.0, "ended", False, 3, 5, False)
    ran = replace(ran, environment={"TOKEN": "a secret value"})
    run = store.keep(folder, to_json(replace(measure_traces([BEFORE], [source]), run=ran))).id
    assert main(["runs", run, "--json"]) == 0
    printed = json.loads(capsys.readouterr().out)
    assert printed["run"]["environment"] == {"TOKEN": "…"}, "values of variables may be secrets"
    assert main(["runs", run, "--pin"]) == 0
    assert main(["runs"]) == 0
    listed = capsys.readouterr().out
    (row,) = [line for line in listed.splitlines() if run in line]
    assert re.search(
        r"\(pinned\) +20\d\d-\d\d-\d\d \d\d:\d\d +tiny.py --n 1 +NVIDIA H200 +tiny_ops CUDA [\d.]+ µs +1 ", row
    )
    assert main(["runs", run, "--unpin"]) == 0
    assert main(["runs"]) == 0
    assert "pinned" not in capsys.readouterr().out
    assert main(["runs", run, "--delete"]) == 0
    assert main(["runs", "--delete"]) == 2
    assert "Name the run to pin, delete or compare with." in capsys.readouterr().err
    assert not store.runs()
