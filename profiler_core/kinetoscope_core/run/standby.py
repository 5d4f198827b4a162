"""The next run's interpreter, prepared ahead: what it is prepared for, and whether it fits a run that is asked for."""

import os
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from kinetoscope_core.run.config import RunConfig
from kinetoscope_core.run.interpreter import find_interpreter
from kinetoscope_core.run.outcome import Outcome
from kinetoscope_core.run.process import Message, RunnerProcess

LONGEST_S = 30.0
"""For the first one, where it is not known how long a start takes."""


@dataclass(frozen=True, slots=True)
class Order:
    """What to prepare: an interpreter in its folder and environment, with torch and the `packages` that the user names.

    `script` and `arguments` are what packages find that look for them while they are imported. `cold_s`: how long the
    last cold run took until it measured, None where there was none.
    """

    interpreter: str | None
    folder: str | None
    environment: Mapping[str, str]
    script: str
    arguments: list[str]
    packages: list[str]
    cuda: bool
    cold_s: float | None
    top: str | None = None
    """How far up an environment is looked for where no interpreter is named."""

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)

    def config(self) -> RunConfig:
        """As far as the start of the interpreter needs one. Raises `InterpreterError`."""
        folder = Path(self.folder) if self.folder else None
        top = Path(self.top) if self.top else None
        chosen = find_interpreter(self.interpreter, script=self.script, folder=folder, top=top)
        return RunConfig(chosen.path, self.script, folder=folder, environment=self.environment)


def order_after(
    config: RunConfig, packages: list[str], outcome: Outcome, why_plain: str | None, cold_s: float | None
) -> Order | None:
    """What to prepare after this run, None where it would be of no use. `cold_s` where this run was not a cold one."""
    seconds = cold_s if cold_s is not None else outcome.seconds_to_recording
    if not outcome.torch_was_imported or seconds is None or why_plain is not None:
        return None
    return Order(
        config.interpreter,
        None if config.folder is None else str(config.folder),
        config.environment,
        config.script,
        list(config.arguments),
        packages,
        outcome.device.is_used,
        seconds,
    )


class Prepared:
    """An interpreter that prepares itself, and then waits for one run. `runner` is the process."""

    def __init__(self, order: Order, runner: RunnerProcess) -> None:
        self.order = order
        self.runner = runner
        self._folder = _identity(order.folder)
        self._began = time.monotonic()
        self._is_settled = threading.Event()
        self.why_lost = ""

    def start(self) -> None:
        """Raises `InterpreterError`."""
        order = self.order
        wanted = {"script": order.script, "arguments": order.arguments, "packages": order.packages, "cuda": order.cuda}
        self.runner.prepare(wanted)
        self.runner.start()

    def note(self, message: Message) -> None:
        """Takes in what the runner says before it runs anything."""
        if message["event"] == "not_prepared":
            self.why_lost = message["why"]
        elif message["event"] == "lost" and not self.why_lost:
            self.why_lost = "the prepared interpreter has ended"
        self._is_settled.set()

    def why_not(self, config: RunConfig) -> str | None:
        """Why a run has to start cold, if it has to. The runner itself looks at its packages."""
        order = self.order
        if self.why_lost:
            return self.why_lost
        if config.interpreter != order.interpreter or dict(config.environment) != dict(order.environment):
            return "another interpreter or environment is set"
        folder = None if config.folder is None else str(config.folder)
        if folder != order.folder or _identity(folder) != self._folder:
            return "it runs in another folder"
        if order.packages and [config.script, *config.arguments] != [order.script, *order.arguments]:
            return "the packages that are named were imported for another script or other arguments"
        return None

    def wait(self, is_wanted: Callable[[], bool]) -> str | None:
        """Waits until it is ready: it began before a plain start, and does what that does and a little more.

        After twice the time of a plain start something is wrong with it: gives why a plain one is started, else None;
        also None when the run is no longer wanted.
        """
        longest_s = 2 * (self.order.cold_s or LONGEST_S)
        while is_wanted() and not self._is_settled.wait(0.05):
            if time.monotonic() - self._began > longest_s:
                return f"it is not ready after {longest_s:.0f} s, twice as long as a new one takes"
        return self.why_lost or None


def _identity(folder: str | None) -> tuple[int, int] | None:
    try:
        status = os.stat(folder or ".")  # noqa: PTH116 - it may be gone
    except OSError:
        return None
    return status.st_dev, status.st_ino
