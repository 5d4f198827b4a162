"""The errors that stop us, in one tree. What does not stop us is a `Problem` (measures.py).

    KinetoscopeError
    ├── UsageError             wrong options or files                            exit 2
    ├── InterpreterError       no Python there, too old, no torch                exit 2
    ├── RunError               the script failed; carries its traceback          exit 1
    │   ├── RunCancelled       stopped by the user                               exit 130
    │   └── ProfilerBusy       torch.profiler could not be started               exit 1
    ├── NothingMeasured        no region reached, no trace                       exit 3
    └── TraceError             not a trace, or cut off beyond repair             exit 3

Each message says what happened, why as far as known, and what to do next.
"""

from typing import ClassVar


class KinetoscopeError(Exception):
    """Something stopped us; `str(error)` is meant for people. `exit_code` is that of the `kinetoscope` command."""

    exit_code: ClassVar[int] = 1


class UsageError(KinetoscopeError):
    """The request cannot be carried out as it was made."""

    exit_code = 2


class InterpreterError(KinetoscopeError):
    """The interpreter cannot run the script under torch.profiler."""

    exit_code = 2


class RunError(KinetoscopeError):
    """The user's script failed. `traceback` is what Python printed of it, empty when there was none; `place` the file
    and line, from 1, that are the user's own, None where there is none.
    """

    def __init__(self, message: str, traceback: str = "", place: tuple[str, int] | None = None) -> None:
        super().__init__(message)
        self.traceback = traceback
        self.place = place


class RunCancelled(RunError):
    """The user stopped the run."""

    exit_code = 130


class ProfilerBusy(RunError):
    """torch.profiler could not be started, most often because another profiler is on."""


class NothingMeasured(KinetoscopeError):
    """The run or the trace holds no region to measure."""

    exit_code = 3


class TraceError(KinetoscopeError):
    """The file is not a trace, or is damaged beyond repair."""

    exit_code = 3
