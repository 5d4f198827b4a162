"""One job in a process of its own (`kinetoscope_core.jobs.worker`), where traces are read and scripts are started.

When we go, its input ends, and it ends with everything that it started.
"""

import asyncio
import contextlib
import logging
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from typing import Any, Final, NamedTuple

import msgspec
import orjson

from kinetoscope_core import log_file
from kinetoscope_core.errors import Problem
from kinetoscope_core.jobs.grid import Grid
from kinetoscope_core.run.standby import Preparation
from kinetoscope_core.runner.request import RunRequest

log = logging.getLogger(__name__)

Event = dict[str, Any]

_START: Final = f"""import runpy, sys
sys.path[:] = {sys.path!r}
runpy.run_module('kinetoscope_core.jobs.worker', run_name='__main__')"""
"""Imports are found where we found ours, whatever PYTHONPATH, PYTHONSAFEPATH or a file in the workspace say: those are
for the script, which inherits the environment."""

_LONGEST_LINE: Final = 1 << 28
_KILL_AFTER_S: Final = 5.0
"""For a worker that does not end by itself when it is told to, and runs no script, or one that was cancelled twice."""
_STDERR_KEPT: Final = 4_000


class TraceFiles(NamedTuple):
    """Traces from elsewhere, and the sources whose regions they are shown at: paths."""

    traces: Sequence[str]
    sources: Sequence[str]


class SweepWork(NamedTuple):
    """A script in all settings of a grid, so many times each."""

    request: RunRequest
    grid: Grid
    repeat: int


class WorkerProcess:
    """A process for one job. `prepare` may start it ahead; `profile`, `sweep`, `read` or `examine` gives it the job and
    returns its last event.

    `on_event` gets all other events, those that follow as well, and `ended` when the process has, which sets `ended`,
    too. `cancel` may be called at any time.
    """

    def __init__(self) -> None:
        self.on_event: Callable[[Event], None] = lambda _event: None
        self._process: asyncio.subprocess.Process | None = None
        self._last: asyncio.Future[Event] = asyncio.get_running_loop().create_future()
        self._reading: asyncio.Task[None] | None = None
        self._started = asyncio.Lock()
        self._has_job = False
        self._is_profiling = False
        self._is_ended = False
        self._cancels = 0
        self.ended = asyncio.Event()

    async def prepare(self, preparation: Preparation) -> None:
        """Has it make the interpreter ready for a job that comes later."""
        await self._start()
        self._write({"do": "prepare", "preparation": preparation.as_dict()})

    async def profile(self, request: RunRequest) -> Event:
        """The event that ends the run: `result` or `error`. A worker that dies without one is an error too."""
        self._is_profiling = True
        return await self._result_of({"do": "profile", "request": request.as_dict()})

    async def sweep(self, work: SweepWork) -> Event:
        """The event that ends it: `result` with a `sweep`, or `error`."""
        self._is_profiling = True
        request, axes = work.request.as_dict(), work.grid.axes
        return await self._result_of({"do": "sweep", "request": request, "axes": axes, "repeat": work.repeat})

    async def read(self, files: TraceFiles) -> Event:
        """The event that ends the reading of traces."""
        return await self._result_of({"do": "read", **files._asdict()})

    async def examine(self, request: RunRequest) -> Event:
        """The event that says what there is to measure with."""
        return await self._result_of({"do": "doctor", "request": request.as_dict()})

    async def _result_of(self, job: Mapping[str, Any]) -> Event:
        await self._start()
        self._has_job = True
        self._write(job)
        for _ in range(self._cancels):
            self._cancel_job()
        try:
            return await self._last
        except asyncio.CancelledError:
            self.end()
            raise

    async def _start(self) -> None:
        async with self._started:
            if self._process is not None:
                return
            process = self._process = await asyncio.create_subprocess_exec(
                sys.executable,
                "-I",
                "-c",
                _START,
                *log_file.options(),
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.PIPE,
                limit=_LONGEST_LINE,
                start_new_session=True,  # a Ctrl-C for the server's terminal is not one for the script
            )
            log.info("worker %d started", process.pid)
            self._reading = asyncio.create_task(self._read(process))
            if self._is_ended:
                self.end()

    async def _read(self, process: asyncio.subprocess.Process) -> None:
        """Until the worker has ended. What cannot be read ends it, and the job with an error."""
        errors = asyncio.create_task(self._errors_of(process))
        why = ""
        try:
            while process.stdout is not None and (line := await process.stdout.readline()):
                self._take(orjson.loads(line))
        except Exception as error:
            log.exception("the worker cannot be read")
            why = f"what it wrote cannot be read: {error}"
            self._kill()
            while process.stdout is not None and await process.stdout.read(1 << 20):
                pass  # what is left in its pipe would keep that open
        written, exit_code = await errors, await process.wait()
        if process.stdin is not None:
            process.stdin.close()
        log.info("worker %d ended with exit code %d", process.pid, exit_code)
        if self._has_job and not self._last.done():
            cancelled = error_event("RunCancelled", "It was cancelled.")
            self._last.set_result(cancelled if self._cancels and not why else _death(why, written, exit_code))
        self.ended.set()
        self.on_event({"event": "ended"})

    def _take(self, event: Event) -> None:
        if event["event"] not in ("result", "error"):
            self.on_event(event)
        elif not self._last.done():
            self._last.set_result(event)

    def end(self) -> None:
        """Its input ends, and it with all that it started: by itself, else killed."""
        self._is_ended = True
        process = self._process
        if process is not None and process.stdin is not None:
            process.stdin.close()
            if not self._is_profiling:  # else it saves what is measured and lets the script end, which it bounds
                asyncio.get_running_loop().call_later(_KILL_AFTER_S, self._kill)

    def cancel(self) -> None:
        """Asks the job to end, keeping what was measured; after a second call the script is not waited for."""
        self._cancels += 1
        if self._has_job:
            self._cancel_job()

    def _cancel_job(self) -> None:
        if not self._is_profiling:  # nothing is lost by it, and nothing else runs
            self._kill()
            return
        process = self._process
        if process is not None and process.returncode is None:
            self._write({"do": "cancel"})
        if self._cancels > 2:
            asyncio.get_running_loop().call_later(_KILL_AFTER_S, self._kill)

    async def _errors_of(self, process: asyncio.subprocess.Process) -> str:
        """What the worker itself wrote to stderr, the end of it; a script's errors come as events."""
        kept = b""
        while process.stderr is not None and (data := await process.stderr.read(4096)):
            kept = (kept + data)[-_STDERR_KEPT:]
        return kept.decode(errors="replace")

    def _write(self, message: Mapping[str, Any]) -> None:
        process = self._process
        if process is not None and process.stdin is not None and not process.stdin.is_closing():
            with contextlib.suppress(OSError, RuntimeError):
                process.stdin.write(orjson.dumps(message) + b"\n")

    def _kill(self) -> None:
        """The worker alone: the runner in the script sees its line end, and ends with everything that it started."""
        process = self._process
        if process is not None and process.returncode is None:
            with contextlib.suppress(ProcessLookupError):
                process.kill()


def _death(why: str, errors: str, exit_code: int) -> Event:
    log.error("the worker ended with %d:\n%s", exit_code, errors)
    lines = errors.strip().splitlines()
    why = why or (lines[-1] if lines else f"exit code {exit_code}")
    message = f"Kinetoscope's worker ended without a result ({why}). The log says more."
    return error_event("WorkerDied", message)


def error_event(kind: str, message: str) -> Event:
    """The event in which a worker would say that its job has come to nothing."""
    return {"event": "error", "kind": kind, "problem": asdict(Problem("run-problem", message))}


def problem_of(event: Event) -> Problem:
    """The problem that such an event tells of."""
    return msgspec.convert(event["problem"], Problem)
