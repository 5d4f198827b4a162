"""The next run's interpreter, prepared ahead: what it is prepared for, and whether it fits a run that is asked for."""

import os
import threading
import time
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from kinetoscope_core.run.env_file import variables_of
from kinetoscope_core.run.outcome import Outcome
from kinetoscope_core.run.process import Message, RunnerProcess
from kinetoscope_core.runner.request import RunRequest

LONGEST_S = 30.0
"""For the first one, where it is not known how long a start takes."""


class Preparation(NamedTuple):
    """An interpreter as `request` wants it, with torch and its packages, and with CUDA initialised where `cuda`.

    `cold_s` is the time in s that the last cold run took until it measured, None where there was none.
    """

    request: RunRequest
    cuda: bool
    cold_s: float | None

    def as_dict(self) -> dict[str, Any]:
        """As JSON has it."""
        return {**self._asdict(), "request": self.request.as_dict()}

    @classmethod
    def of(cls, values: Mapping[str, Any]) -> "Preparation":
        """From what `as_dict` gave."""
        return cls(RunRequest.of(values["request"]), values["cuda"], values["cold_s"])


def preparation_after(request: RunRequest, outcome: Outcome, cold_s: float | None) -> Preparation | None:
    """What to prepare after this run, None where it would be of no use. `cold_s` where this run was not a cold one."""
    seconds = cold_s if cold_s is not None else outcome.seconds_to_recording
    if not outcome.torch_was_imported or seconds is None:
        return None
    return Preparation(request._replace(interpreter=outcome.interpreter), outcome.device.is_used, seconds)


class Prepared:
    """An interpreter that prepares itself, and then waits for one run. `runner` is the process."""

    def __init__(self, preparation: Preparation, runner: RunnerProcess) -> None:
        self.runner = runner
        self.cold_s = preparation.cold_s
        self._preparation = preparation
        self._folder = _identity(preparation.request.folder)
        self._began = time.monotonic()
        self._is_settled = threading.Event()
        self.why_lost = ""

    def start(self) -> None:
        """Raises `InterpreterError`."""
        self.runner.prepare(self._preparation.request, cuda=self._preparation.cuda)
        self.runner.start()

    def note(self, message: Message) -> None:
        """Takes in what the runner says before it runs anything."""
        if message["event"] == "not_prepared":
            self.why_lost = message["why"]
        elif message["event"] == "lost" and not self.why_lost:
            self.why_lost = "the prepared interpreter has ended"
        self._is_settled.set()

    def why_not(self, request: RunRequest, interpreter: str) -> str | None:
        """Why a run has to start cold, if it has to. The runner itself looks at its packages."""
        prepared = self._preparation.request
        if self.why_lost:
            return self.why_lost
        if interpreter != self.runner.interpreter or variables_of(request) != self.runner.environment:
            return "the run needs another interpreter or environment"
        if request.folder != prepared.folder or _identity(request.folder) != self._folder:
            return "the run has another working directory"
        if prepared.packages and (request.script, request.arguments) != (prepared.script, prepared.arguments):
            return "the packages of the setting were imported for another script or other arguments"
        return None

    def wait(self, is_wanted: Callable[[], bool], *, is_patient: bool = False) -> str | None:
        """Waits until it is ready: it began before a plain start, and does what that does and a little more.

        After twice the time of a plain start, or a minute where it `is_patient`, something is wrong with it: gives why
        a plain one is started, else None; also None when the run is no longer wanted.
        """
        longest_s = 2 * (LONGEST_S if is_patient else self.cold_s or LONGEST_S)
        while is_wanted() and not self._is_settled.wait(0.05):
            if time.monotonic() - self._began > longest_s:
                return f"it is not ready after {longest_s:.0f} s"
        return self.why_lost or None


def _identity(folder: str | None) -> tuple[int, int] | None:
    try:
        status = os.stat(folder or ".")  # noqa: PTH116 - it may be gone
    except OSError:
        return None
    return status.st_dev, status.st_ino
