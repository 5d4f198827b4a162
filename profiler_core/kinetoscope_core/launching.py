"""Starts a run, watches it, and ends it with everything that it started. Knows nothing of traces and numbers."""

import contextlib
import json
import os
import secrets
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from multiprocessing import AuthenticationError
from multiprocessing.connection import Client, Listener
from pathlib import Path
from typing import IO, Any, Literal, TypeAlias

from kinetoscope_core.errors import InterpreterError
from kinetoscope_core.outcomes import DeviceFacts, Ending, Failure, Frame, Outcome, Progress
from kinetoscope_core.runconfig import RunConfig
from kinetoscope_core.runner import channel, processes
from kinetoscope_core.wording import setting

RUNNER = Path(__file__).with_name("runner") / "__main__.py"
GRACE_S = 5.0
"""For `finally` blocks and `atexit` functions of a script that was asked to end."""

Line: TypeAlias = Any
"""A `multiprocessing.connection.Connection`, which is another class on Windows."""

Stream: TypeAlias = int | IO[bytes] | None
"""Where the script's input comes from or its output goes to, as for `subprocess.Popen`; None is our own."""


class Run:
    """One run of a script. `wait` starts it and returns its outcome; `cancel` may be called from any thread.

    The runner leaves `regionlog.json` and `trace-N.json` in `folder`. `shares_terminal` leaves the script in our
    process group, so that it can read from the terminal and Ctrl-C reaches it; else it has a session of its own.
    """

    def __init__(
        self,
        config: RunConfig,
        folder: Path,
        *,
        on_progress: Callable[[Progress], None],
        stdin: Stream = None,
        stdout: Stream = None,
        stderr: Stream = None,
        shares_terminal: bool = False,
    ) -> None:
        self._config = config
        self._folder = folder
        self._on_progress = on_progress
        self._stdin = stdin
        self._stdout = stdout
        self._stderr = stderr
        self._shares_terminal = shares_terminal
        self._id = secrets.token_hex(8)
        self._connection: Line | None = None
        self._messages: dict[str, dict[str, Any]] = {}
        self._problems: list[tuple[str, str]] = []
        self._phases: set[str] = set()
        self._stop_wanted = threading.Event()
        self._stop_reason: Literal["cancelled", "time-limit"] | None = None
        self._was_called = threading.Event()
        self._process: subprocess.Popen[bytes] | None = None

    def cancel(self) -> None:
        """Asks the run to end, keeping what it has measured; a second call kills it."""
        if self._stop_reason == "cancelled":
            self._kill()
        self._stop_reason = "cancelled"
        self._stop_wanted.set()

    def wait(self) -> Outcome:
        """Runs to the end. Raises `InterpreterError` if the interpreter cannot be started or is too old."""
        start = time.monotonic()
        key = secrets.token_bytes(32)
        with contextlib.closing(_listener(key)) as listener:
            process = self._process = self._start(listener, key)
            receiver = threading.Thread(target=self._receive, args=(listener,), daemon=True)
            receiver.start()
            try:
                self._watch(process, start)
            finally:
                self._kill()  # what the script left running goes with it
                exit_code = process.wait()
                if not self._was_called.is_set():
                    self._unblock(listener, key)
                receiver.join()
        return self._outcome(exit_code, time.monotonic() - start)

    def _start(self, listener: Listener, key: bytes) -> subprocess.Popen[bytes]:
        config = self._config
        environment = {**os.environ, **config.environment}
        environment[channel.ENVIRONMENT_VARIABLE] = json.dumps([listener.address, key.hex()])
        environment[processes.ENVIRONMENT_VARIABLE] = self._id
        self._on_progress(Progress("starting Python"))
        try:
            return subprocess.Popen(
                [config.interpreter, str(RUNNER)],
                cwd=config.folder,
                env=environment,
                close_fds=False,  # as a shell would: `<(command)` is an open descriptor
                start_new_session=not self._shares_terminal,
                stdin=self._stdin,
                stdout=self._stdout,
                stderr=self._stderr,
            )
        except OSError as error:
            raise InterpreterError(
                f"{config.interpreter} cannot be started: {error.strerror}. Give a Python interpreter with"
                f" {setting('interpreter')}."
            ) from error

    # --- what the runner says

    def _receive(self, listener: Listener) -> None:
        """Runs on a thread of its own until the runner has gone."""
        try:
            connection = listener.accept()
        except (OSError, EOFError, AuthenticationError):
            return
        self._was_called.set()
        with contextlib.closing(connection):
            for message in _messages_of(connection):
                self._note(connection, message)
        self._connection = None

    def _note(self, connection: Line, message: dict[str, Any]) -> None:
        event: str = message["event"]
        if event == "hello":
            connection.send_bytes(json.dumps(self._request()).encode())
            self._connection = connection
        elif event == "phase":
            self._phases.add(message["phase"])
            self._on_progress(Progress(message["phase"]))
            return
        elif event == "progress":
            phase = "measuring" if message["state"] == "open" else "warming up"
            self._on_progress(
                Progress(phase, message["region"], message["passages"], message["complete"], message["seen"])
            )
            return
        elif event == "problem":
            self._problems.append((message["code"], message["message"]))
            return
        self._messages[event] = message

    def _request(self) -> dict[str, Any]:
        config = self._config
        focus = config.focus
        return {
            "run_id": self._id,
            "own_group": not self._shares_terminal,
            "folder": str(self._folder),
            "module": config.script if config.is_module else None,
            "script": None if config.is_module else config.script,
            "arguments": list(config.arguments),
            "warmup": config.warmup,
            "active": config.active,
            "to_the_end": config.to_the_end,
            "budget_s": config.budget_s,
            "focus_name": focus.name if focus else "",
            "focus_places": [(s.file, s.first, s.last) for s in focus.places] if focus else [],
            "known_places": [(s.file, s.first, s.last) for s in config.known_places],
        }

    # --- watching and ending

    def _watch(self, process: subprocess.Popen[bytes], start: float) -> None:
        """Returns when the process has ended, or was asked to and did not within the grace."""
        limit = self._config.time_limit_s
        kill_at: float | None = None
        while process.poll() is None:
            now = time.monotonic()
            if limit is not None and now - start > limit and self._stop_reason is None:
                self._stop_reason = "time-limit"
                self._stop_wanted.set()
            if self._stop_wanted.is_set():
                if "hello" not in self._messages:  # nothing has run that could end in order
                    return
                self._stop_wanted.clear()
                self._ask_to_stop()
                kill_at = now + GRACE_S
            if kill_at is None and self._is_finished():
                kill_at = now + GRACE_S
            if kill_at is not None and now > kill_at:
                return
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(0.05)

    def _is_finished(self) -> bool:
        """All is measured and the script was ended from inside; what remains is its own clean-up."""
        measured = self._messages.get("measured")
        return measured is not None and measured["why"] in ("enough is measured", "the time budget is over")

    def _ask_to_stop(self) -> None:
        connection = self._connection
        # Ctrl-C in a shared terminal has reached the script already.
        interrupt = not (self._shares_terminal and self._stop_reason == "cancelled")
        if connection is not None:
            with contextlib.suppress(OSError):
                connection.send_bytes(json.dumps({"do": "stop", "interrupt": interrupt}).encode())

    def _kill(self) -> None:
        process = self._process
        if process is None:
            return
        if process.poll() is None:
            process.kill()
        processes.end_processes(self._id, 0 if self._shares_terminal else process.pid)

    @staticmethod
    def _unblock(listener: Listener, key: bytes) -> None:
        """Lets `accept` return when no runner ever came: a call that is already answered ends at once."""
        with contextlib.suppress(OSError, EOFError):
            address: Any = listener.address
            Client(address, authkey=key).close()

    # --- the outcome

    def _outcome(self, exit_code: int, seconds: float) -> Outcome:
        messages = self._messages
        ended = messages.get("ended")
        hello = messages.get("hello")
        if hello is None and self._stop_reason is None:
            raise InterpreterError(_why_no_hello(self._config.interpreter, exit_code))
        outcome = Outcome(self._ending(exit_code), exit_code, seconds, self._config.interpreter)
        outcome.python = hello["python"] if hello else None
        outcome.was_ended_early = self._is_finished()
        outcome.torch_was_imported = "torch imported" in self._phases
        outcome.problems = list(self._problems)
        last = ended or messages.get("measured")
        if last is not None:
            outcome.device = _device_facts(last["device"])
        if ended is not None:
            outcome.left_by = ended["left_by"]
        if "failed" in messages:
            outcome.failure = _failure(messages["failed"])
        if "exited" in messages:
            outcome.script_code = messages["exited"]["code"]
        elif outcome.left_by and ended is not None and ended["exit_code"]:
            outcome.script_code = ended["exit_code"]
        if "not_found" in messages:
            outcome.message = messages["not_found"]["message"]
        return outcome

    def _ending(self, exit_code: int) -> Ending:
        if self._stop_reason is not None:
            return self._stop_reason
        endings: dict[str, Ending] = {"not_found": "not-found", "failed": "failed", "exited": "exited"}
        for event, ending in endings.items():
            if event in self._messages:
                return ending
        if self._is_finished():
            return "ended"
        ended = self._messages.get("ended")
        if ended is not None and ended["left_by"] and ended["exit_code"]:
            return "exited"
        return "killed" if exit_code < 0 else "exited" if exit_code else "ended"


def _listener(key: bytes) -> Listener:
    try:
        return Listener(authkey=key)
    except OSError:  # a temporary folder whose path is too long for a socket
        return Listener(("127.0.0.1", 0), authkey=key)


def _messages_of(connection: Line) -> Iterator[dict[str, Any]]:
    while True:
        try:
            yield json.loads(connection.recv_bytes())
        except (EOFError, OSError):
            return


def _failure(message: dict[str, Any]) -> Failure:
    frames = tuple(Frame(file, line or 0, function) for file, line, function in message["frames"])
    return Failure(message["type"], message["message"], message["traceback"], frames)


def _device_facts(message: dict[str, Any]) -> DeviceFacts:
    if not message:
        return DeviceFacts()
    return DeviceFacts(message["torch"], message["cuda"], tuple(message["devices"]), message["no_cuda_because"])


def _why_no_hello(interpreter: str, exit_code: int) -> str:
    """Asks the interpreter for its version, to tell an old one from something that is no Python at all."""
    another = f"Give another one with {setting('interpreter')}."
    try:
        probe = subprocess.run(
            [interpreter, "-c", "import sys; print('%d.%d' % sys.version_info[:2])"],
            capture_output=True,
            text=True,
            timeout=20,
            check=False,
        )
        version = tuple(int(part) for part in probe.stdout.split("."))
    except (OSError, ValueError, subprocess.TimeoutExpired):
        return f"{interpreter} is not a Python interpreter that works. {another}"
    if version < (3, 9):
        return f"{interpreter} is Python {probe.stdout.strip()}; at least 3.9 is needed. {another}"
    how = f"signal {signal.Signals(-exit_code).name}" if exit_code < 0 else f"exit code {exit_code}"
    return f"{interpreter} ended before the script began ({how})."
