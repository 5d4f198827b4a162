"""Asks an interpreter what it has to measure with, in a process of its own that has little time; runs no script."""

import queue
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from kinetoscope_core.run.process import Message, RunnerProcess, why_no_hello
from kinetoscope_core.runner.request import RunRequest

LONGEST_STEP_S = 120.0
"""torch from a network drive takes a minute; the first start of CUPTI on an H200 3.7 to 6.5 s."""

_ENDS_WITHIN_S = 5.0

_STEPS = {
    "torch": "torch was imported",
    "devices": "torch had looked for GPUs",
    "recorded": "the profiler had recorded",
}


@dataclass(frozen=True, slots=True)
class Examined:
    """What the runner said (`runner/examination.py`), step by step; a step that it did not come to is None.

    `why_ended` is given where its process ended, or was ended, before the last step.
    """

    python: str | None
    torch: Message | None
    devices: Message | None
    recorded: Message | None
    why_ended: str | None


def examine(interpreter: str, folder: str | None, environment: Mapping[str, str]) -> Examined:
    """Imports torch and starts the profiler there, with one kernel on a GPU. Raises `InterpreterError`."""
    nowhere = subprocess.DEVNULL
    with (
        tempfile.TemporaryFile() as stderr,
        RunnerProcess(interpreter, folder, environment, stdin=nowhere, stdout=nowhere, stderr=stderr) as runner,
    ):
        runner.send({"do": "examine"})
        said: dict[str, Message] = {}
        late = False
        runner.start()
        try:
            for message in _said_by(runner):
                said[message["event"]] = message
            _wait_for_end(runner)
        except TimeoutError:
            late = True
        exit_code = runner.end()
        stderr.seek(0)
        words = stderr.read().decode("utf-8", "replace").strip().splitlines()
    missing = next((event for event in _STEPS if event not in said), None)
    why_ended = None
    if missing is not None and not any(each["error"] for each in said.values()):
        if late:
            why_ended = f"it was ended after {LONGEST_STEP_S:g} s, before {_STEPS[missing]}"
        elif runner.hello is None:
            why_ended = why_no_hello(interpreter, exit_code)
        else:
            how = f"signal {signal.Signals(-exit_code).name}" if exit_code < 0 else f"exit code {exit_code}"
            why_ended = f"its process ended ({how}) before {_STEPS[missing]}"
            why_ended += f"; last it wrote: {words[-1]}" if words else ""
    python = None if runner.hello is None else str(runner.hello["python"])
    return Examined(python, said.get("torch"), said.get("devices"), said.get("recorded"), why_ended)


def why_not_prepared(interpreter: str, folder: str | None, environment: Mapping[str, str], *, cuda: bool) -> str | None:
    """Why no interpreter can be prepared for the next run there; None where one can. Raises `InterpreterError`."""
    nowhere = subprocess.DEVNULL
    with RunnerProcess(interpreter, folder, environment, stdin=nowhere, stdout=nowhere, stderr=nowhere) as runner:
        runner.prepare(RunRequest("doctor.py"), cuda=cuda)
        runner.start()
        try:
            for message in _said_by(runner):
                return None if message["event"] == "prepared" else str(message.get("why", "its process has ended"))
        except TimeoutError:
            return f"it was not ready after {LONGEST_STEP_S:g} s"
    return "its process has ended"


def _wait_for_end(runner: RunnerProcess) -> None:
    """So that its exit code is its own; it is about to end."""
    until = time.monotonic() + _ENDS_WITHIN_S
    while not runner.has_ended() and time.monotonic() < until:
        time.sleep(0.02)


def _said_by(runner: RunnerProcess) -> Iterator[Message]:
    """What the runner says until it has gone. Raises `TimeoutError` when a step takes too long."""
    said: queue.Queue[Message] = queue.Queue()
    runner.listen(said.put)
    try:
        while (message := said.get(timeout=LONGEST_STEP_S))["event"] != "lost":
            yield message
    except queue.Empty:
        raise TimeoutError from None
