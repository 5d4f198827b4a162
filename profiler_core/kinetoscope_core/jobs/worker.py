"""One job in a process of its own, for an editor: `python -m kinetoscope_core.jobs.worker`.

The language server never reads a trace and never runs a script itself. The first line of stdin is the job, JSON with
`do`: `profile` or `doctor` with a `request`, `sweep` with `axes` and `repeat` as well, or `read` with `traces` and
`sources`; later lines cancel it. stdout gives
JSON lines, each with an `event`: `progress`, `output` of the script in whole lines, and last `result` or `error`. When
stdin ends, the job is cancelled and all it started is ended.

Before it may come a line with `do`: `prepare` and a `preparation`, after which an interpreter is made ready for a
`profile` that comes later (`prepared`, `not_prepared`); `cold` and `needs_cold` say why a run did not take it, or was
begun again without.
"""

import contextlib
import os
import subprocess
import sys
import threading
from dataclasses import asdict
from io import FileIO, RawIOBase
from pathlib import Path
from typing import IO, Any

import msgspec
import orjson

from kinetoscope_core import log_file
from kinetoscope_core.errors import InterpreterError, KinetoscopeError
from kinetoscope_core.jobs.grid import Grid
from kinetoscope_core.jobs.measure import measure_traces
from kinetoscope_core.jobs.problems import with_last_words
from kinetoscope_core.jobs.profile import Profiling
from kinetoscope_core.jobs.sweep import Sweeping
from kinetoscope_core.results.as_json import as_json
from kinetoscope_core.results.result import to_json
from kinetoscope_core.results.store import Store
from kinetoscope_core.results.sweep import Axis
from kinetoscope_core.run.env_file import variables_of
from kinetoscope_core.run.interpreter import find_interpreter
from kinetoscope_core.run.outcome import Progress
from kinetoscope_core.run.output_pipe import Output
from kinetoscope_core.run.process import RunnerProcess
from kinetoscope_core.run.run import ColdStartNeeded
from kinetoscope_core.run.source_scan import why_plain
from kinetoscope_core.run.standby import Preparation, Prepared, preparation_after
from kinetoscope_core.runner.request import RunRequest


class Worker:
    """Carries out one request. `lines` is where events go, whole lines at a time."""

    def __init__(self, requests: RawIOBase, lines: IO[bytes]) -> None:
        self._requests = requests
        self._lines = lines
        self._lock = threading.Lock()
        self._last_line = ""
        """Of what the script wrote to stderr."""
        self._outputs = [
            Output(lambda text: self.send("output", stream="stdout", text=text)),
            Output(self._pass_on_error),
        ]
        self._runners = contextlib.ExitStack()
        self._profiling: Profiling | Sweeping | None = None
        self._cancelling = threading.Lock()
        self._cancels = 0
        self._is_prepared = False
        self._is_abandoned = False

    def work(self) -> None:
        """Reads the job, carries it out, and says how it ended."""
        prepared: Prepared | None = None
        failure: KinetoscopeError | None = None
        try:
            job = self._next_job()
            if job is not None and job["do"] == "prepare":
                prepared = self._prepare(Preparation.of(job["preparation"]))
                job = self._next_job()
            if job is None:
                return
            log_file.note("asked to %s", job["do"])
            if job["do"] == "profile":
                self._profile(RunRequest.of(job["request"]), prepared)
            elif job["do"] == "sweep":
                axes = msgspec.convert(job["axes"], tuple[Axis, ...])
                self._sweep(RunRequest.of(job["request"]), Grid(axes), job["repeat"])
            elif job["do"] == "doctor":
                self._examine(RunRequest.of(job["request"]))
            else:
                result = measure_traces(_paths(job["traces"]), _paths(job["sources"]))
                self.send("result", run=None, result=orjson.Fragment(to_json(result)))
        except KinetoscopeError as error:
            log_file.note("ended by %s", type(error).__name__)
            failure = error
        finally:
            self._runners.close()
            for output in self._outputs:
                output.close()
        if failure is not None:  # now that all that the script wrote has come
            self.send(
                "error",
                kind=type(failure).__name__,
                problem=with_last_words(failure.problem, self._last_line),
                is_prepared=self._is_prepared,
                why_plain=prepared.runner.why_unfit if prepared is not None else None,
            )

    def _pass_on_error(self, text: str) -> None:
        self._last_line = text.rstrip().rpartition("\n")[2] or self._last_line
        self.send("output", stream="stderr", text=text)

    def _examine(self, request: RunRequest) -> None:
        from kinetoscope_core.jobs.doctor import diagnosis, text_of  # noqa: PLC0415 - clicks do without it

        found = diagnosis(request, lambda text: self.send("progress", phase=text))
        self.send("result", text=text_of(found))

    def _next_job(self) -> dict[str, Any] | None:
        line = self._requests.readline()
        return orjson.loads(line) if line else None

    # --- the next run's interpreter

    def _prepare(self, preparation: Preparation) -> Prepared | None:
        request = preparation.request
        prepared = Prepared(preparation, self._new_runner(request, find_interpreter(request).path))

        def note(message: dict[str, Any]) -> None:
            prepared.note(message)
            if message["event"] == "prepared":
                self.send("prepared", cuda=message["cuda"], memory_bytes=message["memory_bytes"])
            elif prepared.why_lost:
                self.send("not_prepared", why=prepared.why_lost, is_lasting=message["event"] == "not_prepared")

        prepared.runner.listen(note)
        try:
            prepared.start()
        except InterpreterError as error:
            self.send("not_prepared", why=str(error), is_lasting=True)
            return None
        return prepared

    def _new_runner(self, request: RunRequest, interpreter: str) -> RunnerProcess:
        return self._runners.enter_context(self._runner(request, interpreter))

    def _runner(self, request: RunRequest, interpreter: str) -> RunnerProcess:
        stdout, stderr = (output.write_end for output in self._outputs)
        return RunnerProcess(
            interpreter,
            request.folder,
            variables_of(request),
            stdin=subprocess.DEVNULL,
            stdout=stdout,
            stderr=stderr,
        )

    # --- a run

    def _profile(self, request: RunRequest, prepared: Prepared | None) -> None:
        threading.Thread(target=self._listen, daemon=True).start()
        interpreter = find_interpreter(request).path
        if prepared is not None and self._went_warm(request, interpreter, prepared):
            return
        self._run(request, self._new_runner(request, interpreter), None)

    def _went_warm(self, request: RunRequest, interpreter: str, prepared: Prepared) -> bool:
        """Runs in the prepared interpreter if it fits; False where the run has to be a cold one."""
        why = why_plain(request) or prepared.why_not(request, interpreter)
        why = why or prepared.wait(lambda: not self._cancels, is_patient=request.waits_until_prepared)
        if why is not None:
            log_file.note("not in the prepared interpreter: %s", why)
            self.send("cold", why=why)
            prepared.runner.end()
            return False
        try:
            self._run(request, prepared.runner, prepared.cold_s)
        except ColdStartNeeded as reason:
            self._outputs = [output.again() for output in self._outputs]
            self.send("needs_cold" if reason.is_lasting else "cold", why=str(reason))
            return False
        return True

    def _run(self, request: RunRequest, runner: RunnerProcess, cold_s: float | None) -> None:
        """Runs in this runner; `cold_s` is given for a prepared one, which may raise `ColdStartNeeded`."""
        profiling = Profiling(
            request, Store(), runner, on_progress=lambda progress: self.send("progress", **asdict(progress))
        )
        self._is_prepared = runner.is_prepared
        self._begins(profiling)
        plain = why_plain(request) if request.prepares_next else None
        try:
            result, outcome = profiling.run(is_hasty=True)
            plain = plain or runner.why_unfit
            next_one = None
            if request.prepares_next and plain is None:
                next_one = preparation_after(request, outcome, cold_s)
            self.send(
                "result",
                run=profiling.run_id,
                result=orjson.Fragment(to_json(result)),
                is_prepared=runner.is_prepared,
                is_leaving=outcome.is_leaving,
                preparation=None if next_one is None else next_one.as_dict(),
                why_plain=plain,
            )
        finally:
            profiling.finish()

    def _begins(self, job: Profiling | Sweeping) -> None:
        with self._cancelling:
            self._profiling = job
            for _ in range(self._cancels):
                job.cancel()
            if self._is_abandoned:
                job.abandon()

    def _sweep(self, request: RunRequest, grid: Grid, repeat: int) -> None:
        threading.Thread(target=self._listen, daemon=True).start()
        interpreter = find_interpreter(request).path
        which = ""

        def on_run(number: int, count: int, setting: str) -> None:
            nonlocal which
            which = f"run {number} of {count}, {setting}"

        def on_progress(progress: Progress) -> None:
            self.send("progress", **{**asdict(progress), "phase": f"{which}: {progress.phase}", "is_leaving": False})

        sweeping = Sweeping(
            request,
            grid,
            repeat,
            Store(),
            lambda asked: self._runner(asked, interpreter),
            on_run=on_run,
            on_progress=on_progress,
        )
        self._begins(sweeping)
        self.send("result", sweep=sweeping.run())

    def _listen(self) -> None:
        """Cancels at each request, and when the editor has gone: what is measured by then is kept in the store."""
        for _ in iter(self._requests.readline, b""):
            with self._cancelling:
                self._cancels += 1
                if self._profiling is not None:
                    self._profiling.cancel()
        with self._cancelling:
            self._is_abandoned = True
            if self._profiling is not None:
                self._profiling.abandon()

    def send(self, event: str, **fields: object) -> None:
        """Writes one event; when nobody reads any more, the run is about to be ended anyway."""
        line = as_json({"event": event, **fields})
        with self._lock, contextlib.suppress(BrokenPipeError):
            self._lines.write(line + b"\n")
            self._lines.flush()


def _paths(names: list[str]) -> list[Path]:
    return [Path(name) for name in names]


if __name__ == "__main__":
    # Unbuffered and not sys.stdin: a thread that waits inside its buffer aborts the interpreter at its end.
    log_file.log_to(sys.argv[2] if sys.argv[1:2] == ["--log"] else None)
    with FileIO(os.dup(0)) as requests:
        Worker(requests, sys.stdout.buffer).work()
