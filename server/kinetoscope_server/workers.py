"""One job in a process of its own (`kinetoscope_core.worker`): traces are read and scripts are started there, not here.

When we go, its input ends, and it ends with everything that it started.
"""

import asyncio
import contextlib
import logging
import sys
from collections.abc import Callable, Mapping
from typing import Any, Final

import orjson

log = logging.getLogger(__name__)

Event = dict[str, Any]

_START: Final = (
    f"import runpy, sys; sys.path[:] = {sys.path!r}; runpy.run_module('kinetoscope_core.worker', run_name='__main__')"
)
"""Imports are found where we found ours, whatever PYTHONPATH, PYTHONSAFEPATH or a file in the workspace say: those are
for the script, which inherits the environment."""

_LONGEST_LINE: Final = 1 << 30
SECOND_CANCEL_AFTER_S: Final = 0.5
"""Long enough for a `finally` that closes files; users are promised an end within a second."""
_KILL_AFTER_S: Final = 5.0
_STDERR_KEPT: Final = 4_000


class Worker:
    """A job. `result` starts it and returns its last event; `cancel` may be called at any time, also before."""

    def __init__(self, request: Mapping[str, Any], on_event: Callable[[Event], None]) -> None:
        self._request = request
        self._on_event = on_event
        self._process: asyncio.subprocess.Process | None = None
        self._is_cancelled = False

    async def result(self) -> Event:
        """The event that ends the job: `result` or `error`. A worker that dies without one is an error too."""
        process = self._process = await asyncio.create_subprocess_exec(
            sys.executable,
            "-I",
            "-c",
            _START,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            limit=_LONGEST_LINE,
            start_new_session=True,  # a Ctrl-C for the server's terminal is not one for the script
        )
        errors = asyncio.create_task(self._errors_of(process))
        try:
            self._write(orjson.dumps(self._request))
            if self._is_cancelled:
                self.cancel()
            last = await self._last_event(process)
            if last is None and self._is_cancelled:
                return _error("RunCancelled", "It was cancelled.")
            return last or _death(await errors, await process.wait())
        finally:
            self._end(process)

    def cancel(self) -> None:
        """Asks the job to end, keeping what was measured; what has not ended half a second later is killed."""
        self._is_cancelled = True
        if self._process is None:
            return
        if self._request["do"] != "profile":  # nothing is lost by it, and nothing else runs
            self._kill()
            return
        self._cancel_once()
        loop = asyncio.get_running_loop()
        loop.call_later(SECOND_CANCEL_AFTER_S, self._cancel_once)
        loop.call_later(_KILL_AFTER_S, self._kill)

    async def _last_event(self, process: asyncio.subprocess.Process) -> Event | None:
        while process.stdout is not None and (line := await process.stdout.readline()):
            event: Event = orjson.loads(line)
            if event["event"] in ("result", "error"):
                return event
            self._on_event(event)
        return None

    async def _errors_of(self, process: asyncio.subprocess.Process) -> str:
        """What the worker itself wrote to stderr, the end of it; a script's errors come as events."""
        kept = b""
        while process.stderr is not None and (data := await process.stderr.read(4096)):
            kept = (kept + data)[-_STDERR_KEPT:]
        return kept.decode(errors="replace")

    def _cancel_once(self) -> None:
        process = self._process
        if process is not None and process.returncode is None:
            self._write(b'{"do":"cancel"}')

    def _write(self, line: bytes) -> None:
        process = self._process
        if process is not None and process.stdin is not None and not process.stdin.is_closing():
            with contextlib.suppress(OSError, RuntimeError):
                process.stdin.write(line + b"\n")

    def _end(self, process: asyncio.subprocess.Process) -> None:
        """The input ends, and the worker with it: by itself, else killed."""
        if process.stdin is not None:
            process.stdin.close()
        asyncio.get_running_loop().call_later(_KILL_AFTER_S, self._kill)

    def _kill(self) -> None:
        """The worker alone: what it started ends by its second cancellation, long before this."""
        process = self._process
        if process is not None and process.returncode is None:
            with contextlib.suppress(ProcessLookupError):
                process.kill()


def _death(errors: str, exit_code: int) -> Event:
    log.error("the worker ended with %d:\n%s", exit_code, errors)
    lines = errors.strip().splitlines()
    why = lines[-1] if lines else f"exit code {exit_code}"
    message = f"Kinetoscope's worker ended before it had a result ({why}); the log has more."
    return _error("WorkerDied", message)


def _error(kind: str, message: str) -> Event:
    return {"event": "error", "kind": kind, "message": message, "traceback": ""}
