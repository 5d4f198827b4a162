"""The `kinetoscope` command: its subcommands of the core. Results go to stdout, all else to stderr.

Commands of packages above the core, such as `serve`, are looked up by their entry points.
"""

import argparse
import signal
import sys
import time
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from importlib.metadata import entry_points
from io import TextIOWrapper
from pathlib import Path
from types import FrameType
from typing import Final

from rich.console import Console

from kinetoscope_core import log_file
from kinetoscope_core.analysis.findings import is_of_torch
from kinetoscope_core.analysis.findings.pages import text_of
from kinetoscope_core.analysis.statistics import RegionKey
from kinetoscope_core.cli import doctor
from kinetoscope_core.cli.gates import gated
from kinetoscope_core.cli.options import parse
from kinetoscope_core.errors import KinetoscopeError, RunCancelled, RunError, UsageError
from kinetoscope_core.jobs.measure import measure_traces
from kinetoscope_core.jobs.problems import ending_error
from kinetoscope_core.jobs.profile import Profiling
from kinetoscope_core.output.sarif import to_sarif
from kinetoscope_core.output.terminal import print_result, print_runs
from kinetoscope_core.results.result import Result, from_dict, to_json
from kinetoscope_core.results.store import Store
from kinetoscope_core.run.interpreter import find_interpreter
from kinetoscope_core.run.outcome import Outcome, Progress
from kinetoscope_core.run.process import RunnerProcess
from kinetoscope_core.runner.request import RunRequest
from kinetoscope_core.source.placement.fingerprints import file_digest
from kinetoscope_core.text import count_text, printable, shortlist

COMMANDS = "kinetoscope.commands"
"""The group of entry points that packages above the core have their commands in: functions of a list of arguments."""

OWN_COMMANDS = ("profile", "read", "runs", "explain", "doctor")

SECONDS_BETWEEN_PROGRESS = 2.0
ONE_SIGTERM_S = 1.0


def main(arguments: Sequence[str] | None = None) -> int:
    """Carries out one command; the exit code is that of docs/cli.md."""
    given = sys.argv[1:] if arguments is None else list(arguments)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):  # a terminal that has no µ shows another character, no traceback
            stream.reconfigure(errors="replace")
    try:
        # Looking them up reads the metadata of every package that is installed: 0.1 s.
        elsewhere = () if given and given[0] in OWN_COMMANDS else entry_points(group=COMMANDS)
        for command in elsewhere:
            if given and command.name == given[0]:
                return command.load()(given[1:])
        options, script_arguments = parse(given, (command.name for command in elsewhere))
        return _carried_out(options, script_arguments)
    except KinetoscopeError as error:
        log_file.note("ended by %s, exit code %d", type(error).__name__, error.exit_code)
        _say(str(error))
        return error.exit_code
    except KeyboardInterrupt:  # outside a run, which has its own way to be cancelled
        _say("Cancelled.")
        return RunCancelled.exit_code
    except BrokenPipeError:  # the reader of our output has seen enough
        sys.stdout = None  # type: ignore[assignment]
        return 0
    except OSError as error:
        _say(f"The output could not be written: {error.strerror}.")
        return UsageError.exit_code


def _carried_out(options: argparse.Namespace, script_arguments: Sequence[str]) -> int:
    log_file.log_to(options.log)
    log_file.note("command %s", options.command)
    code = _COMMANDS[options.command](options, script_arguments)
    log_file.note("exit code %d", code)
    return code


def _say(text: str) -> None:
    with suppress(BrokenPipeError):  # who reads our messages may go before the run ends
        sys.stderr.write(f"kinetoscope: {printable(text)}\n")
        sys.stderr.flush()


# --- profile


def _profile(options: argparse.Namespace, script_arguments: Sequence[str]) -> int:
    request = _request(options, script_arguments)
    chosen = find_interpreter(request)
    if chosen.passed_over:
        _say(f"note: the script runs with {chosen.path} ({chosen.why}), since {'; '.join(chosen.passed_over)}.")
    with RunnerProcess(
        chosen.path,
        request.folder,
        request.environment,
        stdout=sys.stderr.buffer if options.json else None,
        shares_terminal=sys.stdin is not None and sys.stdin.isatty(),
    ) as runner:
        teller = _Teller(is_focused=options.region is not None)
        profiling = Profiling(request, Store(), runner, on_progress=teller)
        with _signals_cancel(profiling):
            try:
                result, outcome = profiling.run()
                # At once: the script may take minutes for its own clean-up.
                _show(result, as_json=options.json)
                _report(result, options.sarif)
                return _exit_code(outcome) or gated(result, options.fail_on, is_checked=options.check, say=_say)
            finally:
                profiling.finish()


def _request(options: argparse.Namespace, script_arguments: Sequence[str]) -> RunRequest:
    environment: dict[str, str] = {}
    for pair in options.env:
        name, equals, value = pair.partition("=")
        if not name or not equals:
            raise UsageError(f"--env needs NAME=VALUE, not {pair!r}.")
        environment[name] = value
    return RunRequest(
        script=options.script,
        is_module=options.module,
        arguments=tuple(script_arguments),
        interpreter=options.python,
        folder=options.cwd,
        environment=environment,
        region=options.region,
        warmup=options.warmup,
        active=options.active,
        to_the_end=options.to_the_end,
        budget_s=options.budget,
        time_limit_s=options.time_limit,
    )


@contextmanager
def _signals_cancel(profiling: Profiling) -> Generator[None, None, None]:
    """Ctrl-C and SIGTERM end the run, keeping what was measured; after a second one the script is not waited for.

    `timeout` sends its SIGTERM twice, to us and to our group, in one go: that is one.
    """
    terminated_at = float("-inf")

    def cancel(number: int, _frame: FrameType | None) -> None:
        nonlocal terminated_at
        if number == signal.SIGTERM:
            before, terminated_at = terminated_at, time.monotonic()
            if terminated_at - before < ONE_SIGTERM_S:
                return
        if not profiling.cancel(by_terminal=number == signal.SIGINT):
            raise KeyboardInterrupt

    # An ignored one (nohup, & in a shell) stays so, for the script too: a handler is not inherited as such.
    heeded = [number for number in (signal.SIGINT, signal.SIGTERM) if signal.getsignal(number) is not signal.SIG_IGN]
    previous = {number: signal.signal(number, cancel) for number in heeded}
    try:
        yield
    finally:
        for number, handler in previous.items():
            signal.signal(number, handler)


class _Teller:
    """Tells on stderr what the run does: each phase once, and from time to time how far the measuring is."""

    def __init__(self, *, is_focused: bool) -> None:
        self._is_focused = is_focused
        self._next_progress = 0.0

    def __call__(self, progress: Progress) -> None:
        if not progress.region:
            _say(progress.phase)
            return
        now = time.monotonic()
        if now < self._next_progress:
            return
        self._next_progress = now + SECONDS_BETWEEN_PROGRESS
        is_told = not self._is_focused and progress.seen > 1
        regions = f", {progress.complete} of {progress.seen} regions complete" if is_told else ""
        _say(f"{progress.phase}: {progress.region}, {count_text(progress.calls, 'call')}{regions}")


def _exit_code(outcome: Outcome) -> int:
    error = ending_error(outcome)
    if isinstance(error, RunError):
        return error.exit_code
    return 0


def _report(result: Result, sarif: Path | None) -> None:
    if sarif is not None:
        sarif.write_bytes(to_sarif(result, Path.cwd()))


# --- read, runs and explain


def _read(options: argparse.Namespace, _: Sequence[str]) -> int:
    for file in options.source:
        if not file.is_file():
            raise UsageError(f"--source: there is no file {file}.")
    result = measure_traces(options.traces, [file.resolve() for file in options.source])
    _show(result, as_json=options.json)
    keys = [RegionKey(region.name, region.file) for region in result.regions]
    strange = [key.name for key in keys if key.file is None and not is_of_torch(key)]
    if options.source and strange:
        _say(
            f"note: {count_text(len(strange), 'region')} of the trace {'stands' if len(strange) == 1 else 'stand'}"
            f" nowhere in the source, or at several lines: {shortlist(strange)}. Is it the script that was recorded?"
        )
    _report(result, options.sarif)
    return gated(result, options.fail_on, is_checked=options.check, say=_say)


def _runs(options: argparse.Namespace, _: Sequence[str]) -> int:
    store = Store()
    if options.run is None:
        if options.delete or options.is_pinned is not None:
            raise UsageError("Name the run to pin or delete. List them: kinetoscope runs")
        print_runs(_console(), store.runs())
    elif options.delete:
        store.delete(options.run)
    elif options.is_pinned is not None:
        store.pin(options.run, is_pinned=options.is_pinned)
    else:
        _show(from_dict(store.stored(options.run).result()), as_json=options.json)
    return 0


def _explain(options: argparse.Namespace, _: Sequence[str]) -> int:
    sys.stdout.write(text_of(options.code))
    return 0


def _for_others(result: Result) -> Result:
    """Without how the sources stood, which is of use to editors alone, and without values of variables: what is printed
    goes into logs and reports, and they may be secrets.
    """
    run = result.run
    if run is not None:
        run = replace(run, environment=dict.fromkeys(run.environment, "…"))
    return replace(result, run=run, sources={})


def _show(result: Result, *, as_json: bool) -> None:
    if as_json:
        sys.stdout.buffer.write(to_json(_for_others(result), is_indented=True))
        sys.stdout.flush()
    else:
        print_result(_console(), result, _texts(result))
        sys.stdout.flush()  # the script may go on for a while
    for problem in result.problems:
        _say(f"note: {problem.message}")


def _texts(result: Result) -> Mapping[str, str]:
    texts: dict[str, str] = {}
    for file in {region.file for region in result.regions if region.file is not None}:
        data = Path(file).read_bytes() if Path(file).is_file() else b""
        # Beside a text that is not the one that ran, the times would stand at wrong lines.
        if any(each.file == file_digest(data) for each in result.sources.get(file, ())):
            texts[file] = data.decode("utf-8", "replace")
    return texts


def _console() -> Console:
    # Piped, nothing may be cut to a width that only a terminal has.
    return Console(width=None if sys.stdout.isatty() else 200, highlight=False, emoji=False, markup=False)


_COMMANDS: Final[Mapping[str, Callable[[argparse.Namespace, Sequence[str]], int]]] = {
    "profile": _profile,
    "read": _read,
    "runs": _runs,
    "explain": _explain,
    "doctor": doctor.run,
}
