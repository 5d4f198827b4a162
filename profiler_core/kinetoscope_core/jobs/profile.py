"""One profile from what was asked to a stored result. The command and the worker both go this way."""

import contextlib
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import datetime, timezone
from pathlib import Path

from kinetoscope_core import log_file
from kinetoscope_core.errors import UsageError
from kinetoscope_core.jobs.measure import measure_run
from kinetoscope_core.jobs.measure_command import measure_command, moved
from kinetoscope_core.jobs.problems import not_kept
from kinetoscope_core.results.result import Result, to_json
from kinetoscope_core.results.store import Store
from kinetoscope_core.run.commands.process import CommandProcess
from kinetoscope_core.run.commands.run import CommandRun
from kinetoscope_core.run.outcome import Outcome, Progress
from kinetoscope_core.run.process import RunnerProcess
from kinetoscope_core.run.run import Run
from kinetoscope_core.run.script_file import check_script
from kinetoscope_core.run.source_scan import marks_nothing
from kinetoscope_core.runner.profiler import kineto_messages
from kinetoscope_core.runner.request import RunRequest, Span
from kinetoscope_core.source.regions import Region, SourceRegions
from kinetoscope_core.source.regions.which_region import standing_at, written_as
from kinetoscope_core.source.snapshot import Sources
from kinetoscope_core.text import printable
from kinetoscope_core.wording import setting


class Profiling:
    """A profile of what is asked for.

    Starts the runner, unless it is a prepared one; who calls this ends it. Raises `UsageError` if there is no such
    folder, script or region, and `InterpreterError`.
    """

    def __init__(
        self,
        request: RunRequest,
        store: Store,
        runner: RunnerProcess | CommandProcess,
        *,
        on_progress: Callable[[Progress], None],
    ) -> None:
        if request.folder is not None and not Path(request.folder).is_dir():
            raise UsageError(f"There is no folder {request.folder} to run in. Give one with {setting('folder')}.")
        log_file.note("profile %s", _request_text(request))
        folder = Path(request.folder or ".").resolve()
        self._source = _source_of(request, folder)
        self._sources = Sources(time.time(), self._source and self._source.parent)
        # The interpreter starts while the sources are read.
        if isinstance(runner, RunnerProcess) and not runner.is_started:
            runner.start()
        # Read now, as it may be edited while it runs.
        known = self._sources.regions_of(str(self._source)) if self._source else []
        spans = tuple(_span(str(self._source), each) for each in known)
        spans += tuple(
            _span(str(file), each)
            for file in _files_among(request.arguments, folder)
            if (request.is_module or request.is_command) and file != self._source
            for each in self._sources.regions_of(str(file))
        )
        # Of the processes of a command, those that mark nothing are left alone.
        is_unmarked = isinstance(runner, RunnerProcess) and not spans and marks_nothing(request)
        self._request = _focused(request, self._source, known)._replace(known_places=spans, marks_nothing=is_unmarked)
        self._store = store
        self._folder = store.new_folder()
        self._on_progress = on_progress
        self._runner = runner
        self._is_reading = False
        self._cancels = 0
        self.is_kept = True
        if isinstance(runner, CommandProcess):
            self._run = CommandRun(self._request, self._folder, runner, on_progress=on_progress)
        else:
            self._run = Run(self._request, self._folder, runner, on_progress=on_progress)

    @property
    def run_id(self) -> str | None:
        """The id under which the store keeps the result; None where it could not."""
        return self._folder.name if self.is_kept else None

    def cancel(self, *, by_terminal: bool = False) -> bool:
        """Ends the run, keeping what was measured; a second call does not wait for the script any more (`Run.cancel`).

        May be called from any thread. False if that would be the trace's reading, which only the caller can end.
        """
        self._cancels += 1
        self._run.cancel(by_terminal=by_terminal)
        return self._cancels < 2 or not self._is_reading

    def abandon(self) -> None:
        """Ends the run, keeping what was measured, when nobody is there any more to wait for it."""
        self._run.abandon()

    def run(self, *, is_hasty: bool = False) -> tuple[Result, Outcome]:
        """Runs, measures and keeps. Raises a `KinetoscopeError` when there is nothing to show.

        A script that was ended early may still be leaving then, and, with `is_hasty`, also one that came to its own end
        without an error; who calls this calls `finish` at last.
        """
        started = datetime.now(timezone.utc).isoformat(timespec="seconds")
        try:
            outcome = self._run.wait(is_hasty=is_hasty) if isinstance(self._run, Run) else self._run.wait()
            self._is_reading = True
            self._pass_on_last_words()
            if any(self._folder.rglob("trace-*")):
                self._on_progress(Progress("reading the trace"))
            began = time.monotonic()
            measure = measure_run if outcome.processes is None else measure_command
            result = measure(self._request, outcome, self._folder, started, self._source, self._sources)
            log_file.note("measured %d regions in %.3f s", len(result.regions), time.monotonic() - began)
        except BaseException:
            self._store.discard(self._folder)
            raise
        finally:
            self._is_reading = False
        return self._kept(result), outcome

    def _kept(self, result: Result) -> Result:
        """The result as it lies in the store. Where it cannot be kept it is shown all the same, with its trace."""
        final = self._store.final_folder(self._folder)
        kept = moved(result, self._folder, final)
        try:
            self._store.keep(self._folder, to_json(kept))
        except UsageError as error:
            self.is_kept = False
            return replace(result, problems=(*result.problems, not_kept(error)))
        log_file.note("kept as %s", final)
        return kept

    def _pass_on_last_words(self) -> None:
        """What was written to stderr while the profiler started or stopped, in a process that has crashed then."""
        for path in self._folder.rglob(kineto_messages.KEPT):
            with contextlib.suppress(OSError):
                lines = path.read_bytes().splitlines(keepends=True)
                path.unlink()
                self._runner.write_to_stderr(b"".join(kineto_messages.not_of_kineto(lines, [])))

    def finish(self) -> None:
        """Waits for the script's end, and ends what it leaves."""
        self._run.finish()


def _request_text(request: RunRequest) -> str:
    """For the log: all that was asked for, of the environment the names alone."""
    asked = {**request.as_dict(), "environment": list(request.environment)}
    return ", ".join(f"{name}={value!r}" for name, value in asked.items())


def _source_of(request: RunRequest, folder: Path) -> Path | None:
    """The file whose regions are known before it runs. Raises `UsageError` if the script is not there, or no Python."""
    if request.is_command:
        return next(iter(_files_among(request.arguments, folder)), None)
    if request.is_module:
        base = folder.joinpath(*request.script.split("."))
        candidates = [base.with_suffix(".py"), base / "__main__.py"]
        return next((path for path in (*candidates, *_files_among(request.arguments, folder)) if path.is_file()), None)
    path = folder / request.script
    if not path.exists():
        raise UsageError(f"There is no script {printable(str(path))}.{_module_hint(request.script)}")
    check_script(path)
    return path if path.is_file() and path.suffix not in (".zip", ".pyz") else None


def _module_hint(script: str) -> str:
    is_module = "/" not in script and "\\" not in script and not script.endswith(".py")
    return " If it is a module, put -m before it." if is_module else ""


def _files_among(arguments: Sequence[str], folder: Path) -> list[Path]:
    """The source files that a module such as pytest is given, also as `file.py::test`."""
    named = [folder / argument.partition("::")[0] for argument in arguments if not argument.startswith("-")]
    return [path for path in dict.fromkeys(named) if path.suffix == ".py" and path.is_file()]


def _span(file: str, region: Region) -> Span:
    return Span(file, region.statement_line, region.last_line)


def _focused(request: RunRequest, source: Path | None, known: Sequence[Region]) -> RunRequest:
    """With the places, or the name, of the region that is wanted, and FILE:LINE where it is shown.

    Raises `UsageError` if no code stands at its line.
    """
    wanted = request.region
    if wanted is None:
        return request
    file, colon, line = wanted.rpartition(":")
    is_place = bool(colon) and line.isdigit()
    if is_place and file.endswith(".py") and not Path(file).is_file():
        raise UsageError(f"--region: there is no file {printable(file)}.")
    if not is_place or not Path(file).is_file():
        patterns = written_as(known, wanted)
        if not patterns:
            return request._replace(focus_name=wanted)
        return request._replace(focus_places=tuple(_span(str(source), each) for each in patterns))
    path = Path(file).resolve()
    text = SourceRegions(path.read_bytes())
    here = standing_at(text, int(line))
    if not here:
        lines = ", ".join(str(region.line) for region in text.regions) or "none"
        raise UsageError(f"No statement begins at line {line} of {file} (regions stand at: {lines}).")
    places = tuple(_span(str(path), region) for region in here)
    return request._replace(region=f"{path}:{here[0].line}", focus_places=places)
