"""Regions that are entered by other ways than a `with` at their own line, and where runs with them end."""

import sys

import pytest

from .conftest import line_of


def test_regions_of_every_way_to_enter_them(kinetoscope):
    script = "entered_otherwise.py"
    ran = kinetoscope(script)
    assert ran.code == 0, ran
    counts = ran.counts()
    assert {name for name in counts if not name.isdigit()} == {"guarded", "fast", 'an "operator"', "model"}
    # A name is cold at its first calls, however many names there are at the line, and each is waited for.
    assert {name for name in counts if name.isdigit()} == {str(number) for number in range(80)}
    assert {count for name, count in counts.items() if name.isdigit()} == {(8, 5)}
    regions = ran.regions()
    call = line_of(script, "model(torch.ones(1, 8))")
    assert {regions[name]["line"] for name in ("model", "0", "79")} == {call}
    assert regions["fast"]["line"] == line_of(script, '"fast"')
    assert regions['an "operator"']["line"] == line_of(script, "_record_function_enter_new")
    assert "region-not-reached" not in ran.problems


def test_a_region_around_everything_is_open_from_its_only_call_on_and_ends_with_the_budget(kinetoscope):
    ran = kinetoscope("around_all.py", options=["--region", "training", "--budget", "1"])
    assert ran.code == 0, ran
    assert ran.result["run"]["was_ended_early"]
    assert ran.counts()["step"][0] > 1


EXIT = b"Exit: Kinetoscope has measured enough"


@pytest.mark.parametrize(
    ("framework", "tests", "ending"),
    [
        ("pytest", "measured_tests.py", EXIT),
        ("pytest", "measured_tests.py::AsyncTests", EXIT),
        ("pytest", "measured_tests.py::test_that_catches", b"KeyboardInterrupt"),
        ("unittest", "measured_tests.Tests", b""),
    ],
)
def test_a_test_is_ended_and_has_not_failed(kinetoscope, framework, tests, ending):
    command = ("-m", framework)
    arguments = ["-p", "no:cacheprovider", tests] if framework == "pytest" else [tests]
    process = kinetoscope.start("--python", sys.executable, *command, "--region", "tested", "--json", "--", *arguments)
    ran = kinetoscope.finish(process)
    assert ran.code == 0, ran
    assert ran.counts() == {"tested": (6, 5)}
    assert "tests-not-run" in ran.problems
    shown = ran.stdout + ran.stderr
    assert ending in shown
    assert b"FAILED" not in shown
    assert b"kinetoscope_core" not in ran.script_output


def test_regions_in_processes_of_the_script_are_said_to_be_there(kinetoscope):
    ran = kinetoscope("in_children.py")
    assert ran.code == 3, ran
    assert "the processes that it started" in ran.messages
