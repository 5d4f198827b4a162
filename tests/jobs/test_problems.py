"""What a run without anything to show is said to have lacked."""

from dataclasses import asdict, replace
from pathlib import Path
from typing import Literal

import pytest

from kinetoscope_core.analysis.log_match import not_recorded
from kinetoscope_core.errors import Frame, KinetoscopeError, Problem, ProfilerBusy, RunError
from kinetoscope_core.jobs.problems import ending_problem, not_reached, nothing_measured, with_last_words
from kinetoscope_core.run.failure import failure_problem
from kinetoscope_core.run.outcome import Ending, Outcome
from kinetoscope_core.runner.request import RunRequest

REQUEST = RunRequest("s.py")


def error_after(code: str, message: str) -> KinetoscopeError:
    outcome = Outcome("ended", 0, 1.0, "python", torch_was_imported=True, problems=[Problem(code, message)])
    return nothing_measured(REQUEST, outcome, ["x"], None)


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
    error = nothing_measured(REQUEST, failed(), ["x"], None)
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
    error = nothing_measured(REQUEST, outcome, ["x"], None)
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
    assert ("has no torch" in str(nothing_measured(REQUEST, outcome, ["x"], None))) == is_said


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
        ("train.py", [], "No record_function region ran, and no optimizer step or DataLoader"),
        ("train.py", ["forward"], "train.py never entered forward. Regions in compiled code"),
        ("train.py", list("abcdef"), "train.py never entered a, b, c, d and 2 more."),
        (
            "test_speed.py",
            ["speed"],
            "test_speed.py never entered speed. Run its tests with pytest: kinetoscope profile -m pytest -- test_sp",
        ),
    ],
)
def test_a_script_of_which_no_region_ran_is_told_why(script: str, known: list[str], text: str) -> None:
    outcome = Outcome("ended", 0, 1.0, "python", torch_was_imported=True)
    request = REQUEST._replace(script=script)
    assert str(nothing_measured(request, outcome, known, None, script=Path(script))).startswith(text)


@pytest.mark.parametrize(
    ("stderr", "message"),
    [
        ("usage: train.py\ntrain.py: error: the following arguments are required: --data, --epochs\n",
         "train.py: arguments required: --data, --epochs."),
        ("my train.py: error: unrecognized arguments: --sise 4", "my train.py: unrecognized arguments: --sise 4."),
        ("Exiting", "The script ended with exit code 2."),
        ("", "The script ended with exit code 2."),
    ],
)  # fmt: skip
def test_what_argparse_said_takes_the_place_of_its_exit_code(stderr: str, message: str) -> None:
    error = nothing_measured(REQUEST, Outcome("exited", 2, 1.0, "python", script_code=2), [], None)
    assert with_last_words(error.problem, stderr).message == message
    other = nothing_measured(REQUEST, Outcome("exited", 3, 1.0, "python", script_code=3), [], None)
    assert with_last_words(other.problem, stderr).message == "The script ended with exit code 3."


@pytest.mark.parametrize(
    ("ending", "ended_for", "why"),
    [
        ("ended", "budget", " within 20 s of recording, after which the script was ended. --budget"),
        ("ended", "enough", ": the script was ended when the other regions had enough calls. --to-"),
        ("cancelled", None, " before the run was cancelled."),
        ("failed", None, " before the script failed."),
        ("exited", None, " before the script exited."),
        ("time-limit", None, " before the time limit ended the run."),
        ("ended", None, ". Regions in compiled code and in subprocesses are not recorded."),
    ],
)
def test_a_region_that_was_not_reached_names_the_cause_that_is_known(
    ending: Ending, ended_for: Literal["enough", "budget"] | None, why: str
) -> None:
    outcome = Outcome(ending, 0, 1.0, "python", ended_for=ended_for)
    message = not_reached("train.py", 4, "loss", outcome, 20.0).message
    assert message.startswith(f"loss (line 4) was not reached{why}")
    assert ("compiled" in message) == (ending == "ended" and ended_for is None)
