"""The next run's interpreter, prepared ahead: what it is prepared for, and whether it fits a run that is asked for."""

import os
import time
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from kinetoscope_core.outcomes import Outcome
from kinetoscope_core.runconfig import RunConfig, find_interpreter
from kinetoscope_core.scanning import Scan
from kinetoscope_core.starting import Message, RunnerProcess


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

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)

    def config(self) -> RunConfig:
        """As far as the start of the interpreter needs one."""
        folder = Path(self.folder) if self.folder else None
        return RunConfig(find_interpreter(self.interpreter), self.script, folder=folder, environment=self.environment)


def order_after(
    config: RunConfig, packages: list[str], outcome: Outcome, found: Scan, cold_s: float | None
) -> Order | None:
    """What to prepare after this run, None where it would be of no use. `cold_s` where this run was not a cold one."""
    seconds = cold_s if cold_s is not None else outcome.seconds_to_window
    if not outcome.torch_was_imported or seconds is None or found.why_cold(["torch"]) is not None:
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
        self._is_ready = False
        self.why_lost = ""

    def start(self) -> None:
        """Raises `InterpreterError`."""
        order = self.order
        wanted = {"script": order.script, "arguments": order.arguments, "packages": order.packages, "cuda": order.cuda}
        self.runner.prepare(wanted)
        self.runner.start()

    def note(self, message: Message) -> None:
        """Takes in what the runner says before it runs anything."""
        if message["event"] == "prepared":
            self._is_ready = True
        elif message["event"] == "not_prepared":
            self.why_lost = message["why"]
        elif message["event"] == "lost" and not self.why_lost:
            self.why_lost = "the prepared interpreter has ended"

    def why_not(self, config: RunConfig, found: Scan) -> str | None:
        """Why a run has to start cold, if it has to. The runner itself looks at its packages."""
        order = self.order
        if self.why_lost:
            return self.why_lost
        if config.interpreter != order.interpreter or dict(config.environment) != dict(order.environment):
            return "another interpreter or environment is set"
        folder = None if config.folder is None else str(config.folder)
        if folder != order.folder or _identity(folder) != self._folder:
            return "it runs in another folder"
        if (why := found.why_cold(["torch"])) is not None:
            return why
        # Preparing is what a cold start does, so that it is ahead of one, unless something is wrong with it.
        if not self._is_ready and order.cold_s and time.monotonic() - self._began > 2 * order.cold_s:
            return "preparing takes too long"
        return None


def _identity(folder: str | None) -> tuple[int, int] | None:
    try:
        status = os.stat(folder or ".")  # noqa: PTH116 - it may be gone
    except OSError:
        return None
    return status.st_dev, status.st_ino
