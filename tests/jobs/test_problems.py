"""What a run without anything to show is said to have lacked."""

from dataclasses import asdict, replace
from pathlib import Path

import pytest

from kinetoscope_core.analysis.log_match import not_recorded
from kinetoscope_core.errors import Frame, KinetoscopeError, Problem, ProfilerBusy, RunError
from kinetoscope_core.jobs.problems import ending_problem, nothing_measured
from kinetoscope_core.run.failure import failure_problem
from kinetoscope_core.run.outcome import Outcome
from kinetoscope_core.runner.request import RunRequest

REQUEST = RunRequest("s.py")


def error_after(code: str, message: str) -> KinetoscopeError:
    outcome = Outcome("ended", 0, 1.0, "python", torch_was_imported=True, problems=[Problem(code, message)])
    return nothing_measured(REQUEST, outcome, 1, None)


def test_a_profiler_that_could_not_start_is_not_blamed_on_the_disk() -> None:
    error = error_after("profiler-not-started", "torch.profiler could not be started: RuntimeError: busy")
    assert isinstance(error, ProfilerBusy)
    assert "end it" in str(error)
    assert "disk" not in str(error)


FRAMES = (Frame("/home/me/train.py", 9, "<module>"), Frame("/home/me/train.py", 4, "step"))


def failed(**changes: str) -> Outcome:
    said = {
        "type": "ValueError", "message": "six\nand more", "missing": None, "traceback": "Traceback …",
        "file": "/home/me/train.py", "line": 4, "frames": [asdict(each) for each in FRAMES], **changes,
    }  # fmt: skip
    failure = failure_problem(said, "/usr/bin/python3")
    return Outcome("failed", 1, 1.0, "/usr/bin/python3", failure=failure, torch_was_imported=True)


def test_a_failure_is_one_problem_whether_or_not_something_was_measured_before() -> None:
    error = nothing_measured(REQUEST, failed(), 1, None)
    assert isinstance(error, RunError)
    assert error.problem == Problem(
        "run-failed",
        "The script failed: ValueError: six.",
        {"traceback": "Traceback …"},
        "/home/me/train.py",
        4,
        FRAMES,
    )
    message = f"{error} What was measured before is kept."
    assert ending_problem(failed()) == replace(error.problem, message=message)


def test_what_is_lost_with_a_failure_is_said_and_its_place_is_kept() -> None:
    outcome = replace(failed(), lost_while="saving", problems=[Problem("trace-not-saved", "The disk is full.")])
    error = nothing_measured(REQUEST, outcome, 1, None)
    assert str(error).endswith("six while its trace was being saved, so what was measured is lost; The disk is full.")
    assert (error.problem.line, error.problem.frames) == (4, FRAMES)


@pytest.mark.parametrize(
    ("message", "missing", "is_said"),
    [
        ("No module named 'torch'", "torch", True),
        ("No module named 'torch.fast'; 'torch' is not a package", "torch.fast", False),
        ("No module named 'numpy'", "numpy", False),
    ],
)
def test_an_interpreter_without_torch_is_said_to_be_one(message: str, missing: str, is_said: bool) -> None:
    outcome = failed(type="ModuleNotFoundError", message=message, missing=missing)
    assert ("has no torch" in str(nothing_measured(REQUEST, outcome, 1, None))) == is_said


@pytest.mark.parametrize("code", ["trace-not-saved", "log-not-saved"])
def test_what_could_not_be_saved_says_where_room_can_be_made(code: str) -> None:
    error = error_after(code, f"Nothing was saved: [Errno 28] No space left on device: {Path('x')}")
    assert isinstance(error, RunError)
    assert "XDG_CACHE_HOME" in str(error)


def test_names_that_were_not_recorded_are_counted_where_they_are_many() -> None:
    one = not_recorded("a.py", 4, ["one"], None)
    assert one.message == "one (line 4) was entered, but not while the profiler recorded."
    elsewhere = not_recorded("lib/call.py", 4, ["one", "two"], None, is_elsewhere=True).message
    assert elsewhere.startswith("one, two (call.py:4) were entered")
    many = not_recorded("a.py", 448, [f"name {number}" for number in range(10)], None).message
    assert many == (
        "name 0, name 1, name 2, name 3 and 6 more (line 448) were entered, but not while the profiler recorded."
    )


@pytest.mark.parametrize(
    ("script", "known", "text"),
    [
        ("train.py", 0, "No record_function region ran."),
        ("train.py", 1, "The script's one region was not reached with"),
        ("train.py", 3, "None of the script's 3 regions was reached with"),
        ("test_speed.py", 4, "Run them with pytest: kinetoscope profile -m pytest -- test_speed.py (in an editor"),
    ],
)
def test_a_script_of_which_no_region_ran_is_told_why(script: str, known: int, text: str) -> None:
    outcome = Outcome("ended", 0, 1.0, "python", torch_was_imported=True)
    assert text in str(nothing_measured(REQUEST, outcome, known, None, script=Path(script)))
