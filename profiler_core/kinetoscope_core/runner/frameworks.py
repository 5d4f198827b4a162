"""How a program that runs the script's code is told to end: what test frameworks understand.

They take any other exception for a failure of the test that happens to run.
"""

import os
import sys
import threading
from typing import Any, Optional, Type

_PYTEST = os.path.join("_pytest", "main.py")
_UNITTEST = os.path.join("unittest", "case.py")


def exception_to_end_with(default: Type[BaseException]) -> Type[BaseException]:
    """What to raise in the main thread, so that what runs there ends: pytest's Exit, KeyboardInterrupt for unittest."""
    frame = sys._current_frames().get(threading.main_thread().ident or 0)
    while frame is not None:
        file = frame.f_code.co_filename
        if file.endswith(_PYTEST) and "_pytest.outcomes" in sys.modules:
            return _exit_of_pytest(sys.modules["_pytest.outcomes"])
        if file.endswith(_UNITTEST):
            return KeyboardInterrupt
        frame = frame.f_back
    return default


def _exit_of_pytest(outcomes: Any) -> Type[BaseException]:
    def begin(self: Any) -> None:
        outcomes.Exit.__init__(self, "Kinetoscope has measured enough", returncode=0)

    return type("Exit", (outcomes.Exit,), {"__init__": begin, "__module__": outcomes.Exit.__module__})


def test_that_runs() -> Optional[str]:
    """The test that pytest is in, by its id."""
    return os.environ.get("PYTEST_CURRENT_TEST", "").rpartition(" (")[0] or None
