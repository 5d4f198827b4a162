"""What a run without anything to show is said to have lacked."""

from pathlib import Path

import pytest

from kinetoscope_core.analysis.log_match import not_recorded
from kinetoscope_core.errors import KinetoscopeError, ProfilerBusy, RunError
from kinetoscope_core.jobs.problems import nothing_measured
from kinetoscope_core.run.outcome import Outcome
from kinetoscope_core.runner.request import RunRequest


def error_after(code: str, message: str) -> KinetoscopeError:
    outcome = Outcome("ended", 0, 1.0, "python", torch_was_imported=True, problems=[(code, message)])
    return nothing_measured(RunRequest("s.py"), outcome, 1, None)


def test_a_profiler_that_could_not_start_is_not_blamed_on_the_disk() -> None:
    error = error_after("profiler-not-started", "torch.profiler could not be started: RuntimeError: busy")
    assert isinstance(error, ProfilerBusy)
    assert "end it" in str(error)
    assert "disk" not in str(error)


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
    assert text in str(nothing_measured(RunRequest("s.py"), outcome, known, None, script=Path(script)))
