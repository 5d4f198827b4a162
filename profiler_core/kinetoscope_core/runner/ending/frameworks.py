"""How a program that runs the script's code is told to end: what test frameworks understand.

They take any other exception for a failure of the test that happens to run.
"""

import os
import sys
import threading
from types import FrameType
from typing import Any, Iterator, Optional, Type

_PYTEST = os.path.join("_pytest", "main.py")
_PYTEST_RUNNER = os.path.join("_pytest", "runner.py")
_UNITTEST = os.path.join("unittest", "case.py")


def exception_to_end_with(default: Type[BaseException]) -> Type[BaseException]:
    """What to raise in the main thread, so that what runs there ends: pytest's Exit, KeyboardInterrupt for unittest."""
    frame = sys._current_frames().get(threading.main_thread().ident or 0)
    files = [each.f_code.co_filename for each in _outwards(frame)]
    if "_pytest.outcomes" in sys.modules and any(file.endswith(_PYTEST) for file in files):
        _hide_our_frames()
        return _exit_of_pytest(sys.modules["_pytest.outcomes"])
    return KeyboardInterrupt if any(file.endswith(_UNITTEST) for file in files) else default


def _exit_of_pytest(outcomes: Any) -> Type[BaseException]:
    """A KeyboardInterrupt, too: asyncio, and unittest where pytest runs it, keep others for themselves."""

    def begin(self: Any) -> None:
        outcomes.Exit.__init__(self, "Kinetoscope has measured enough", returncode=0)

    members = {"__init__": begin, "__module__": outcomes.Exit.__module__}
    return type("Exit", (outcomes.Exit, KeyboardInterrupt), members)


def _hide_our_frames() -> None:
    """Pytest shows where a KeyboardInterrupt came from, and leaves out modules with this name."""
    runner = str(__package__).rpartition(".")[0]
    for name, module in list(sys.modules.items()):
        if name.startswith(f"{runner}."):
            module.__tracebackhide__ = True  # type: ignore[attr-defined]


def is_in_a_test() -> bool:
    """Whether this thread is in a test itself, and not in what sets it up or tears it down."""
    for frame in _outwards(sys._getframe(1)):
        file = frame.f_code.co_filename
        if file.endswith(_UNITTEST):
            return frame.f_code.co_name == "_callTestMethod"
        if file.endswith(_PYTEST_RUNNER):
            return frame.f_code.co_name == "pytest_runtest_call"
    return False


def test_that_runs() -> Optional[str]:
    """The test that pytest is in, by its id."""
    return os.environ.get("PYTEST_CURRENT_TEST", "").rpartition(" (")[0] or None


def _outwards(frame: Optional[FrameType]) -> Iterator[FrameType]:
    while frame is not None:
        yield frame
        frame = frame.f_back
