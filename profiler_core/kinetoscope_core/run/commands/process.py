"""A command of any kind, and the lines to those of its processes that enter regions.

A folder of ours, first in PYTHONPATH, brings the runner into each Python (`runner/inject`); it reads in `join.json`, in
the run's folder, whom to call, and what is asked for.
"""

import contextlib
import json
import os
import secrets
import signal
import threading
from collections.abc import Callable, Mapping, Sequence
from multiprocessing import AuthenticationError
from multiprocessing.connection import Listener
from pathlib import Path
from typing import Any

from kinetoscope_core import log_file
from kinetoscope_core.errors import UsageError
from kinetoscope_core.run import line
from kinetoscope_core.run.line import Line, Message
from kinetoscope_core.run.started import Started, Stream
from kinetoscope_core.runner import guest, processes
from kinetoscope_core.runner.request import RunRequest
from kinetoscope_core.text import printable

INJECTED = Path(guest.__file__).with_name("inject")
_LAST_WORDS_S = 5.0


class Member:
    """A process of the command that has called: what it said, by event, of each the last."""

    def __init__(self, connection: Line, hello: Message) -> None:
        self.hello = hello
        self.said: dict[str, Message] = {}
        self.problems: list[Message] = []
        self.is_saving = False
        self._connection = connection

    @property
    def is_gone(self) -> bool:
        return "lost" in self.said

    @property
    def is_lost(self) -> bool:
        """Whether it went without a word, as by SIGKILL."""
        return self.is_gone and "ended" not in self.said

    @property
    def is_rank(self) -> bool:
        """Whether it is one of several that work together, and may not end by itself."""
        return self.hello["world_size"] > 1 or self.said.get("enough", {}).get("how") == "together"

    @property
    def name(self) -> str:
        rank = self.hello["rank"]
        return f"process {self.hello['pid']}" if rank is None else f"rank {rank}"

    def send(self, message: Message) -> None:
        line.send(self._connection, message)

    def note(self, message: Message) -> None:
        event = message["event"]
        line.note(self.name, message)
        if event == "problem":
            self.problems.append(message)
        if event == "phase":
            self.is_saving = message["phase"] == "saving"
        elif event in ("measured", "ended", "problem", "lost"):
            self.is_saving = False
        elif event == "enough":  # the process group may be there only now
            self.hello.update(message)
        self.said[event] = message


class CommandProcess(Started):
    """The command's process. A context manager: when it is left, it has ended, with all that it started."""

    def __init__(
        self,
        command: Sequence[str],
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
        self.command = command
        self.members: list[Member] = []
        self._key = secrets.token_bytes(32)
        self._is_over = False
        self._exit_code: int | None = None
        self._threads: list[threading.Thread] = []

    def __enter__(self) -> "CommandProcess":  # noqa: PYI034 - typing has Self from 3.11 on
        return self

    def __exit__(self, *_: object) -> None:
        self.end()

    def start(self, request: RunRequest, folder: Path, on_message: Callable[[Member, Message], None]) -> None:
        """Starts it; processes leave their traces and logs in folders of their own in `folder`.

        What they say is handed on from threads of their own, `hello` first and `lost` last. Raises `UsageError` if
        there is no such command.
        """
        listener = line.listener_with(self._key)
        self._address: Any = listener.address
        values = {
            "address": listener.address,
            "key": self._key.hex(),
            "run_id": self.id,
            "folder": str(folder),
            "request": request.as_dict(),
        }
        joining = self._joining = folder / "join.json"
        joining.write_text(json.dumps(values), encoding="utf-8")
        before = {**os.environ, **self.environment}.get("PYTHONPATH")
        path = str(INJECTED) + (os.pathsep + before if before else "")
        try:
            self._spawn(self.command, {"PYTHONPATH": path, guest.ENVIRONMENT_VARIABLE: str(joining)})
        except OSError as error:
            listener.close()
            raise UsageError(f"{printable(self.command[0])} cannot be started: {error.strerror}.") from error
        self._accepting = threading.Thread(target=self._accept, args=(listener, on_message), daemon=True)
        self._accepting.start()

    def admit_no_more(self) -> None:
        """Processes that begin from now on are not measured; the key is no longer on the disk."""
        self._joining.unlink(missing_ok=True)

    def interrupt(self) -> None:
        """Does what Ctrl-C in a terminal does. On Windows nothing."""
        process = self._process
        if process is None or os.name != "posix" or process.poll() is not None:
            return
        if not self.shares_terminal:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(process.pid, signal.SIGINT)
            return
        for each in {process.pid, *processes.processes_of(self.id)}:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                if os.getpgid(each) == os.getpgrp():
                    os.kill(each, signal.SIGINT)

    def end(self) -> int:
        """Kills what is left, and waits until all that was said has been handed on. Returns the exit code."""
        process = self._process
        if process is None or self._exit_code is not None:
            return self._exit_code or 0
        self.kill()
        exit_code = self._exit_code = process.wait()
        self._is_over = True
        line.unblock(self._address)
        for thread in (self._accepting, *self._threads):
            thread.join(_LAST_WORDS_S)
        log_file.note("command %d ended with exit code %d", process.pid, exit_code)
        if self._job is not None:
            self._job.close()
        return exit_code

    def _accept(self, listener: Listener, on_message: Callable[[Member, Message], None]) -> None:
        with listener:
            while True:
                try:
                    connection = listener.accept()
                except (OSError, EOFError, AuthenticationError):  # it ended meanwhile, or it is `end` that calls
                    if self._is_over:
                        return
                    continue
                thread = threading.Thread(target=self._receive, args=(connection, on_message), daemon=True)
                self._threads.append(thread)
                thread.start()

    def _receive(self, connection: Line, on_message: Callable[[Member, Message], None]) -> None:
        with contextlib.closing(connection):
            member: Member | None = None
            for message in line.messages_of(connection):
                if member is None:
                    member = Member(connection, message)
                    self.members.append(member)
                member.note(message)
                on_message(member, message)
            if member is not None:
                member.note({"event": "lost"})
                on_message(member, {"event": "lost"})
