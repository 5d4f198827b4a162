"""The errors that stop us, in one tree, and the `Problem`, which tells of one as of what did not stop us.

    KinetoscopeError
    ├── UsageError             wrong options or files                            exit 2
    ├── InterpreterError       no Python there, too old, no torch                exit 2
    ├── RunError               the script failed                                exit 1
    │   ├── RunCancelled       stopped by the user                               exit 130
    │   └── ProfilerBusy       torch.profiler could not be started               exit 1
    ├── NothingMeasured        no region reached, no trace                       exit 3
    └── TraceError             not a trace, or cut off beyond repair             exit 3

Each message says what happened, why as far as known, and what to do next.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import ClassVar, Final

NEVER_ENTERED: Final = "never-entered"
NO_REGION: Final = "no-region"
WRONG_ARGUMENTS: Final = "wrong-arguments"
"""Codes of problems for which an editor offers what can be done at once."""


@dataclass(frozen=True, slots=True)
class Frame:
    """Line of a traceback; `line` is from 1."""

    file: str
    line: int
    function: str


@dataclass(frozen=True, slots=True)
class Problem:
    """Something that the reader of the numbers must know, or why there are none.

    `code` is stable and made of words with hyphens; `message` says what happened and what to do. `file` and `line`
    (from 1) are where it stands in the user's source; `frames` the calls that led to an exception, the innermost last.
    """

    code: str
    message: str
    evidence: Mapping[str, int | str] = field(default_factory=dict[str, "int | str"])
    file: str | None = None
    line: int | None = None
    frames: tuple[Frame, ...] = ()


class KinetoscopeError(Exception):
    """Something stopped us; `str(error)` is meant for people, and `problem` says it with its place, if it has one.
    `exit_code` is that of the `kinetoscope` command.
    """

    exit_code: ClassVar[int] = 1

    def __init__(self, said: str | Problem) -> None:
        self.problem = said if isinstance(said, Problem) else Problem("run-problem", said)
        super().__init__(self.problem.message)


class UsageError(KinetoscopeError):
    """The request cannot be carried out as it was made."""

    exit_code = 2


class InterpreterError(KinetoscopeError):
    """The interpreter cannot run the script under torch.profiler."""

    exit_code = 2


class RunError(KinetoscopeError):
    """The user's script failed."""


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
