"""The user's interpreter with our runner in it: its process, the line to it, and its end with all that it started."""

import contextlib
import json
import os
import secrets
import signal
import subprocess
import threading
from collections.abc import Callable, Mapping
from multiprocessing import AuthenticationError
from multiprocessing.connection import Listener
from pathlib import Path
from typing import Any

from kinetoscope_core import log_file
from kinetoscope_core.errors import InterpreterError
from kinetoscope_core.run import line
from kinetoscope_core.run.line import Line, Message
from kinetoscope_core.run.started import Started, Stream
from kinetoscope_core.runner import channel
from kinetoscope_core.runner.request import RunRequest
from kinetoscope_core.wording import setting

RUNNER = Path(__file__).parents[1] / "runner" / "__main__.py"

_LAST_WORDS_S = 5.0


class RunnerProcess(Started):
    """One runner in `interpreter`. Any thread may send.

    A context manager: when it is left, the process has ended, with all that it started.
    """

    def __init__(
        self,
        interpreter: str,
        folder: str | None,
        environment: Mapping[str, str],
        *,
        stdin: Stream = None,
        stdout: Stream = None,
        stderr: Stream = None,
        shares_terminal: bool = False,
    ) -> None:
        super().__init__(
            folder, environment, stdin=stdin, stdout=stdout, stderr=stderr, shares_terminal=shares_terminal
        )
        self.interpreter = interpreter
        self.is_prepared = False
        """Whether it was asked to prepare itself before it was asked to run."""
        self.why_unfit: str | None = None
        """What of the script's doing a prepared interpreter cannot do, once it came to that."""
        self._key = secrets.token_bytes(32)
        self._lock = threading.Lock()
        self._unsent: list[Message] = []
        self._unheard: list[Message] = []
        self._on_message: Callable[[Message], None] | None = None
        self.hello: Message | None = None
        self._connection: Line | None = None
        self._was_called = threading.Event()
        self._exit_code: int | None = None

    def __enter__(self) -> "RunnerProcess":  # noqa: PYI034 - typing has Self from 3.11 on
        return self

    def __exit__(self, *_: object) -> None:
        self.end()

    def start(self) -> None:
        """Starts the interpreter. Raises `InterpreterError` if it cannot be started."""
        listener = self._listener = line.listener_with(self._key)
        self._address: Any = listener.address
        channel_of_it = json.dumps([listener.address, self._key.hex()])
        try:
            process = self._spawn([self.interpreter, RUNNER], {channel.ENVIRONMENT_VARIABLE: channel_of_it})
        except OSError as error:
            listener.close()
            raise InterpreterError(
                f"{self.interpreter} cannot be started: {error.strerror}. Give a Python interpreter with"
                f" {setting('interpreter')}."
            ) from error
        self._receiver = threading.Thread(target=self._receive, args=(listener,), daemon=True)
        self._receiver.start()
        threading.Thread(target=self._unblock_if_it_never_calls, args=(process,), daemon=True).start()

    def listen(self, on_message: Callable[[Message], None]) -> None:
        """Hands on what the runner says beyond its `hello`, also what nobody has heard yet; `lost` is the last event.

        On another thread, and in place of who listened before.
        """
        with self._lock:
            for message in self._unheard:
                on_message(message)
            self._unheard.clear()
            self._on_message = on_message

    def send(self, message: Message) -> None:
        """Sends the message as soon as the runner is there."""
        with self._lock:
            if self._connection is None:
                self._unsent.append(message)
            else:
                line.send(self._connection, message)

    def prepare(self, request: RunRequest, *, cuda: bool) -> None:
        """Has it import torch and the packages and, with `cuda`, make CUDA ready; it answers `prepared` or
        `not_prepared`.
        """
        self.is_prepared = True
        self.send({"do": "prepare", "cuda": cuda, **self._values_of(request)})

    def run(self, request: RunRequest, folder: Path) -> None:
        """Has it run what is asked for; it leaves traces and log in `folder`."""
        self.send({"do": "run", "folder": str(folder), **self._values_of(request)})

    def _values_of(self, request: RunRequest) -> Message:
        return {"run_id": self.id, "own_group": not self.shares_terminal, "request": request.as_dict()}

    def interrupt(self) -> None:
        """Sends SIGINT to the process itself, where it cannot be asked to do that; Windows has no such thing."""
        if self._process is not None and os.name == "posix":
            self._process.send_signal(signal.SIGINT)

    def end(self) -> int:
        """Kills what is left, and waits until all that the runner said has been handed on. Returns the exit code."""
        process = self._process
        if process is None or self._exit_code is not None:
            return self._exit_code or 0
        self.kill()
        exit_code = self._exit_code = process.wait()
        if not self._was_called.is_set():
            line.unblock(self._address)
        # A process that none of this finds (it gave up the run's mark and its session) may hold the line.
        self._receiver.join(_LAST_WORDS_S)
        log_file.note("process %d ended with exit code %d", process.pid, exit_code)
        self._listener.close()
        if self._job is not None:
            self._job.close()
        return exit_code

    def _receive(self, listener: Listener) -> None:
        """Runs on a thread of its own until the runner has gone."""
        try:
            connection = listener.accept()
        except (OSError, EOFError, AuthenticationError):
            self._hear({"event": "lost"})
            return
        self._was_called.set()
        with contextlib.closing(connection):
            with self._lock:
                self._connection = connection
                for message in self._unsent:
                    line.send(connection, message)
            for message in line.messages_of(connection):
                self._hear(message)
            with self._lock:
                self._connection = None
        self._hear({"event": "lost"})

    def _hear(self, message: Message) -> None:
        with self._lock:
            on_message = self._on_message
            line.note("runner", message)
            if message["event"] == "hello":
                self.hello = message
            elif on_message is None:
                self._unheard.append(message)
        if on_message is not None and message is not self.hello:
            on_message(message)

    def _unblock_if_it_never_calls(self, process: subprocess.Popen[bytes]) -> None:
        """So that `lost` is heard of a process that ended before it called."""
        while not self._was_called.wait(0.2):
            if process.poll() is not None:
                line.unblock(self._address)
                return


def why_no_hello(interpreter: str, exit_code: int) -> str:
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
        return f"{interpreter} is Python {probe.stdout.strip()}; scripts need 3.9 or newer. {another}"
    how = f"signal {signal.Signals(-exit_code).name}" if exit_code < 0 else f"exit code {exit_code}"
    return f"{interpreter} ended before the script began ({how})."
