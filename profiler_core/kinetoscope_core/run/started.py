"""A process that we start for a user, marked together with all that it starts, so that it ends with all of that."""

import contextlib
import os
import secrets
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import IO, TypeAlias

from kinetoscope_core import log_file
from kinetoscope_core.run.windows_job import Job, job_of
from kinetoscope_core.runner import processes

_NEW_PROCESS_GROUP: int = getattr(subprocess, "CREATE_NEW_PROCESS_GROUP", 0)
"""On Windows, keeps the console's Ctrl-C for us."""

Stream: TypeAlias = int | IO[bytes] | None
"""Where the script's input comes from or its output goes to, as for `subprocess.Popen`; None is our own."""


class Started:
    """One process; `environment` is added to our own. With `shares_terminal` it stays in our process group, so that it
    can read from the terminal and Ctrl-C reaches it; else it has a session of its own.
    """

    def __init__(
        self,
        folder: str | None,
        environment: Mapping[str, str],
        *,
        stdin: Stream = None,
        stdout: Stream = None,
        stderr: Stream = None,
        shares_terminal: bool = False,
    ) -> None:
        self.id = secrets.token_hex(8)
        self.environment = environment
        self.shares_terminal = shares_terminal
        self._folder = folder
        self._stdin = stdin
        self._stdout = stdout
        self._stderr = stderr
        self._job: Job | None = None
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def is_started(self) -> bool:
        return self._process is not None

    def _spawn(self, command: Sequence[str | Path], variables: Mapping[str, str]) -> subprocess.Popen[bytes]:
        """Starts the command, with these variables beside those that are known. Raises `OSError`."""
        set_here = ", ".join(self.environment) or "none"
        log_file.note("starting %s in %s, variables set: %s", command[0], self._folder or ".", set_here)
        process = self._process = subprocess.Popen(
            command,
            cwd=self._folder,
            env={**os.environ, **self.environment, **variables, processes.ENVIRONMENT_VARIABLE: self.id},
            close_fds=False,  # as a shell would: `<(command)` is an open descriptor
            start_new_session=not self.shares_terminal,
            creationflags=0 if self.shares_terminal else _NEW_PROCESS_GROUP,
            stdin=self._stdin,
            stdout=self._stdout,
            stderr=self._stderr,
        )
        self._job = job_of(process.pid)
        return process

    def has_ended(self) -> bool:
        return self._process is None or self._process.poll() is not None

    def write_to_stderr(self, text: bytes) -> None:
        """Writes where the script's stderr goes, in its place."""
        stream = self._stderr
        number = 2 if stream is None else stream if isinstance(stream, int) else stream.fileno()
        with contextlib.suppress(OSError):
            os.write(number, text)

    def kill(self) -> None:
        """Kills the process and everything that it started."""
        process = self._process
        if process is None:
            return
        if process.poll() is None:
            process.kill()
        if self._job is not None:
            self._job.end()
        processes.end_processes(self.id, 0 if self.shares_terminal else process.pid)
