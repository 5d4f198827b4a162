"""What a run without anything to show is said to have lacked."""

from pathlib import Path

import pytest

from kinetoscope_core.errors import KinetoscopeError, ProfilerBusy, RunError
from kinetoscope_core.outcomes import Outcome
from kinetoscope_core.problems import nothing_measured


def error_after(code: str, message: str) -> KinetoscopeError:
    outcome = Outcome("ended", 0, 1.0, "python", torch_was_imported=True, problems=[(code, message)])
    return nothing_measured(outcome, 1, None)


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
