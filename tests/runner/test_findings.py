"""Findings of a real run, as the command tells them: in its output, its exit code and its reports."""

import json
import subprocess
import sys

import pytest

from kinetoscope_core.analysis.findings import BY_CODE
from kinetoscope_core.analysis.findings.pages import text_of

COMPILING = ("--warmup", "0")


@pytest.fixture
def explained(kinetoscope):
    def explain(*codes):
        command = [sys.executable, "-m", "kinetoscope_core.cli", "explain", *codes]
        return subprocess.run(command, env=kinetoscope.environment, capture_output=True, check=False)

    return explain


def test_a_finding_that_is_asked_for_sets_the_exit_code_and_the_report_has_it(kinetoscope, tmp_path):
    report = tmp_path / "findings.sarif"
    ran = kinetoscope("recompiles.py", options=(*COMPILING, "--fail-on", "compiling,idle-gap", "--sarif", report))
    assert ran.code == 4
    assert "kinetoscope: Exit code 4, because --fail-on found: compiling in compiles.\n" in ran.messages
    (compiling,) = ran.regions()["compiles"]["findings"]
    assert compiling["code"] == "compiling"
    assert compiling["evidence"]["compilations"] == 5
    assert not compiling["is_suppressed"]
    assert ran.regions()["known to"]["findings"][0]["is_suppressed"]

    (run,) = json.loads(report.read_bytes())["runs"]
    rules = {rule["id"]: rule for rule in run["tool"]["driver"]["rules"]}
    assert set(rules) == {*BY_CODE, "expectation"}
    for rule in rules.values():
        assert 10 < len(rule["shortDescription"]["text"]) < 200
        assert 10 < len(rule["fullDescription"]["text"]) < 1024
        assert "*" not in rule["shortDescription"]["text"]
        assert not rule["fullDescription"]["text"].startswith("*")
    found = {each["partialFingerprints"]["kinetoscope/v1"]: each for each in run["results"]}
    first, known = found["compiling:compiles"], found["compiling:known to"]
    place = first["locations"][0]["physicalLocation"]
    assert place["artifactLocation"] == {"uri": "recompiles.py", "uriBaseId": "SRCROOT"}
    assert place["region"] == {"startLine": 13}
    assert first["level"] == "warning"
    assert "suppressions" not in first
    assert known["suppressions"] == [{"kind": "inSource"}]


def test_findings_stand_below_the_table_and_fail_nothing_by_themselves(kinetoscope):
    ran = kinetoscope("recompiles.py", options=(*COMPILING, "--fail-on", "tiny-kernels"), as_json=False)
    assert ran.code == 0
    lines = ran.stdout.decode().splitlines()
    (line,) = (line for line in lines if " compiling  compiles compiles 5× over 5 calls" in line)
    assert line.startswith("  recompiles.py:13  warning: compiling")
    assert not any(" compiling  known to" in line for line in lines)
    assert "  Shown only with --json: 1 that a comment switches off" in lines
    assert "note: no GPU work was measured, so --fail-on could not check: tiny-kernels." in ran.messages


def test_a_code_that_there_is_not_is_refused_with_those_that_there_are(kinetoscope, explained):
    ran = kinetoscope("recompiles.py", options=("--fail-on", "slow"))
    assert ran.code == 2
    assert b"'slow' is not a finding; the findings are overhead-bound, " in ran.stderr
    done = explained("slow")
    assert done.returncode == 2
    assert b"There is no finding 'slow'. There are: backward-elsewhere, " in done.stderr


@pytest.mark.parametrize(("warmup", "is_cold"), [(0, True), (3, False)])
def test_a_first_measured_call_is_not_cold_after_fast_ones_of_warm_up(kinetoscope, warmup, is_cold):
    ran = kinetoscope("one_slow.py", str(warmup), options=("--warmup", str(warmup)))
    codes = {finding["code"] for finding in ran.regions()["passes"]["findings"]}
    assert ("cold-start" in codes) == is_cold


@pytest.mark.parametrize("report", ["missing/findings.sarif", "."])
def test_a_report_that_cannot_be_written_is_refused_before_anything_runs(kinetoscope, tmp_path, report):
    ran = kinetoscope("recompiles.py", options=("--sarif", tmp_path / report))
    assert ran.code == 2
    assert b"cannot be written; name a file in an existing folder" in ran.stderr
    assert b"starting Python" not in ran.stderr


@pytest.mark.parametrize("code", ["synchronisation", "run-failed"])
def test_a_code_is_explained_by_its_page(explained, code):
    assert explained(code).stdout.decode() == text_of(code)
