"""One run of a script by a command: what is asked for, who cancels it, what is told of it, and its exit code."""

import argparse
import signal
import sys
import time
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from types import FrameType
from typing import TypedDict

from kinetoscope_core.cli.showing import say
from kinetoscope_core.errors import RunError, UsageError
from kinetoscope_core.jobs.problems import ending_error
from kinetoscope_core.run.commands.process import CommandProcess
from kinetoscope_core.run.interpreter import find_interpreter
from kinetoscope_core.run.outcome import Outcome, Progress
from kinetoscope_core.run.process import RunnerProcess
from kinetoscope_core.run.started import Stream
from kinetoscope_core.runner.request import RunRequest
from kinetoscope_core.text import count_text

SECONDS_BETWEEN_PROGRESS = 2.0
ONE_SIGTERM_S = 1.0


def request_of(options: argparse.Namespace, script_arguments: Sequence[str]) -> RunRequest:
    """What the options of a run ask for. Raises `UsageError`."""
    environment: dict[str, str] = {}
    for pair in options.env:
        name, equals, value = pair.partition("=")
        if not name or not equals:
            raise UsageError(f"--env needs NAME=VALUE, not {pair!r}.")
        environment[name] = value
    script, *arguments = script_arguments if options.script is None else (options.script, *script_arguments)
    return RunRequest(
        script=script,
        is_module=options.module,
        is_command=options.script is None,
        arguments=tuple(arguments),
        interpreter=options.python,
        folder=options.cwd,
        environment=environment,
        region=options.region,
        modules=options.modules,
        warmup=options.warmup,
        active=options.active,
        to_the_end=options.to_the_end,
        budget_s=options.budget,
        time_limit_s=options.time_limit,
    )


def chosen_interpreter(request: RunRequest) -> str:
    """The Python that runs it; a note names environments that were passed over. A command has its own. Raises
    `InterpreterError`.
    """
    if request.is_command:
        return request.script
    chosen = find_interpreter(request)
    if chosen.passed_over:
        say(f"note: the script runs with {chosen.path} ({chosen.why}), since {'; '.join(chosen.passed_over)}.")
    return chosen.path


def process_of(
    request: RunRequest, interpreter: str, *, keeps_stdout: bool, with_children: bool
) -> RunnerProcess | CommandProcess:
    """The process for one run at this terminal. With `keeps_stdout` what runs prints to stderr. `with_children`: a
    script, too, is run as a command, which all processes are measured of.
    """
    command = [request.script, *request.arguments]
    if not request.is_command and not with_children:
        return runner_of(request, interpreter, keeps_stdout=keeps_stdout)
    if not request.is_command:
        command = [interpreter, *(["-m"] if request.is_module else []), *command]
    return CommandProcess(command, request.folder, request.environment, **_streams(keeps_stdout=keeps_stdout))


def runner_of(request: RunRequest, interpreter: str, *, keeps_stdout: bool) -> RunnerProcess:
    """The same of a script."""
    return RunnerProcess(interpreter, request.folder, request.environment, **_streams(keeps_stdout=keeps_stdout))


class _Streams(TypedDict):
    stdout: Stream
    shares_terminal: bool


def _streams(*, keeps_stdout: bool) -> _Streams:
    return {
        "stdout": sys.stderr.buffer if keeps_stdout else None,
        "shares_terminal": sys.stdin is not None and sys.stdin.isatty(),
    }


@contextmanager
def signals_cancel(cancel_run: Callable[[bool], bool]) -> Generator[None, None, None]:
    """Ctrl-C and SIGTERM end the run, keeping what was measured; after a second one the script is not waited for.

    `cancel_run` is told whether the terminal has sent it to the script as well; where it returns false, who waits for
    it is interrupted. `timeout` sends its SIGTERM twice, to us and to our group, in one go: that is one.
    """
    terminated_at = float("-inf")

    def cancel(number: int, _frame: FrameType | None) -> None:
        nonlocal terminated_at
        if number == signal.SIGTERM:
            before, terminated_at = terminated_at, time.monotonic()
            if terminated_at - before < ONE_SIGTERM_S:
                return
        if not cancel_run(number == signal.SIGINT):
            raise KeyboardInterrupt

    # An ignored one (nohup, & in a shell) stays so, for the script too: a handler is not inherited as such.
    heeded = [number for number in (signal.SIGINT, signal.SIGTERM) if signal.getsignal(number) is not signal.SIG_IGN]
    previous = {number: signal.signal(number, cancel) for number in heeded}
    try:
        yield
    finally:
        for number, handler in previous.items():
            signal.signal(number, handler)


class Teller:
    """Tells on stderr what the run does: each phase once, and from time to time how far the measuring is."""

    def __init__(self, *, is_focused: bool) -> None:
        self._is_focused = is_focused
        self._next_progress = 0.0

    def __call__(self, progress: Progress) -> None:
        if not progress.region:
            say(progress.phase)
            return
        now = time.monotonic()
        if now < self._next_progress:
            return
        self._next_progress = now + SECONDS_BETWEEN_PROGRESS
        is_told = not self._is_focused and progress.seen > 1
        regions = f", {progress.complete} of {progress.seen} regions complete" if is_told else ""
        say(f"{progress.phase}: {progress.region}, {count_text(progress.calls, 'call')}{regions}")


def exit_code_of(outcome: Outcome) -> int:
    """0 where the script ended as it should, or was ended after all was measured."""
    error = ending_error(outcome)
    return error.exit_code if isinstance(error, RunError) else 0
