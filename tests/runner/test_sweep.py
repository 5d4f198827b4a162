"""Sweeps of real scripts: the order of their runs, a setting that fails, a cancel, and what is kept of each."""

import signal
import sys

import pytest

from kinetoscope_core.cli.main import main
from kinetoscope_core.results.store import Store

COMMAND = [sys.executable, "-m", "kinetoscope_core.cli", "sweep"]


def sweep(kinetoscope, *arguments, log=None):
    """`kinetoscope sweep ARGUMENTS`, of swept.py where it is to write down how it was called."""
    fixed = () if log is None else ("swept.py", "--json", "--", "--log", log)
    return kinetoscope.finish(kinetoscope.start(*arguments, *fixed, command=COMMAND))


def test_settings_run_by_turns_and_one_that_fails_stops_no_other(kinetoscope, tmp_path):
    log = tmp_path / "calls.txt"
    vary = ("--vary", "size=8,-1", "--vary-env", "LEVEL=,3", "--vary", "fast=yes", "--repeat", "2")
    ran = sweep(kinetoscope, *vary, log=log)
    assert ran.code == 1
    assert log.read_text().splitlines() == [
        "--size 8 --fast unset",
        "--size 8 --fast 3",
        "--size -1 --fast unset",
        "--size -1 --fast 3",
        "--size 8 --fast unset",
        "--size 8 --fast 3",
    ], "half of the grid fails in the first round, and is not run again"
    found = ran.result
    assert [each["values"] for each in found["settings"]] == [
        ["8", "yes", ""],
        ["8", "yes", "3"],
        ["-1", "yes", ""],
        ["-1", "yes", "3"],
    ]
    assert [each["processes"] for each in found["settings"]] == [2, 2, 0, 0]
    assert [each["failed"] and "no such size" in each["failed"] for each in found["settings"]] == [
        None,
        None,
        True,
        True,
    ]
    (region,) = found["regions"]
    assert (region["name"], [cell is not None for cell in region["cells"]]) == ("add 8", [True, True, False, False])
    first, second = region["cells"][:2]
    assert first["cpu_total_ns"]["a"] is None
    assert second["cpu_total_ns"]["a"] == first["cpu_total_ns"]["b"] > 0
    stored = {each.id: each.result()["run"] for each in Store(kinetoscope.cache / "kinetoscope").runs()}
    for setting in found["settings"]:
        for run in setting["runs"]:
            assert stored[run]["arguments"] == setting["arguments"]
    assert sorted(stored) == sorted(run for setting in found["settings"] for run in setting["runs"])
    again = sweep(kinetoscope, "--show", "last", "--json")
    assert (again.code, again.stdout, again.stderr) == (0, ran.stdout, b"")
    table = sweep(kinetoscope, "--show", found["id"]).stdout.decode()
    assert "swept.py --log" in table
    assert "no such size" in table
    assert sweep(kinetoscope, "--show", "x").messages.startswith("kinetoscope: There is no stored sweep x; stored are")


def test_a_cancel_keeps_what_is_done_and_shows_it(kinetoscope, tmp_path):
    log = tmp_path / "calls.txt"
    fixed = ("swept.py", "--vary", "size=8,9001,16", "--json", "--", "--log", log)
    ran = kinetoscope.interrupted(b"waiting", *fixed, command=COMMAND, by=signal.SIGINT)
    assert ran.code == 130
    assert [line.split()[1] for line in log.read_text().splitlines()] == ["8", "9001"]
    found = ran.result
    assert found["is_cancelled"]
    assert [each["processes"] for each in found["settings"]] == [1, 0, 0]
    assert [each["failed"] for each in found["settings"]] == [None, None, None]
    (region,) = found["regions"]
    assert [cell is not None for cell in region["cells"]] == [True, False, False]
    shown = sweep(kinetoscope, "--show", "last").stdout.decode()
    assert "The sweep was cancelled after 1 run; the run that was cut off is left out." in shown


def test_a_script_that_is_not_there_is_one_error_and_no_sweep(kinetoscope):
    ran = sweep(kinetoscope, "none.py", "--vary", "size=1,2")
    assert (ran.code, ran.stdout) == (2, b"")
    assert ran.messages.count("There is no script") == 1
    assert sweep(kinetoscope, "--show", "last").code == 2


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["s.py", "--vary", "size"], "'size' does not say what to vary: NAME=VALUE,VALUE, such as size=64,1024,4096."),
        (["s.py", "--vary", "=1,2"], "'=1,2' does not say"),
        (["s.py", "--vary", "a b=1"], "'a b=1' does not say"),
        (["s.py", "--vary-env", "N"], "such as OMP_NUM_THREADS=1,4."),
        (["s.py", "--vary", "n=1,1"], "1 is varied twice in n."),
        (["s.py", "--vary", "n=1", "--vary=--n=2"], "--n is varied twice."),
        (["s.py"], "Say what to vary, such as --vary size=64,1024,4096"),
        (["--vary", "n=1"], "Name the script to run"),
        (["s.py", "--show", "last"], "it runs nothing"),
    ],
)
def test_wrong_usage_is_told_with_an_example(arguments, said, capsys):
    assert main(["sweep", *arguments]) == 2
    assert said in capsys.readouterr().err
