"""`kinetoscope profile`: runs a script, once or several times, and shows what its regions took."""

import argparse
import signal
import sys
import time
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from types import FrameType

from kinetoscope_core.cli.gates import gated
from kinetoscope_core.cli.showing import report, say, show
from kinetoscope_core.errors import RunError, UsageError
from kinetoscope_core.jobs.problems import ending_error
from kinetoscope_core.jobs.profile import Profiling
from kinetoscope_core.results.store import Store
from kinetoscope_core.run.interpreter import find_interpreter
from kinetoscope_core.run.outcome import Outcome, Progress
from kinetoscope_core.run.process import RunnerProcess
from kinetoscope_core.runner.request import RunRequest
from kinetoscope_core.text import count_text

SECONDS_BETWEEN_PROGRESS = 2.0
ONE_SIGTERM_S = 1.0


def run(options: argparse.Namespace, script_arguments: Sequence[str]) -> int:
    """Carries out the command. With `--repeat` each run is stored, the last one shown, and one that fails the last."""
    request = _request(options, script_arguments)
    chosen = find_interpreter(request)
    if chosen.passed_over:
        say(f"note: the script runs with {chosen.path} ({chosen.why}), since {'; '.join(chosen.passed_over)}.")
    for number in range(1, options.repeat):
        say(f"run {number} of {options.repeat}")
        code = _one_run(request, chosen.path, options, is_last=False)
        if code:
            return code
    if options.repeat > 1:
        say(f"run {options.repeat} of {options.repeat}")
    code = _one_run(request, chosen.path, options, is_last=True)
    if options.repeat > 1:
        say("All runs are stored (kinetoscope runs). After a change: kinetoscope compare baseline last")
    return code


def _one_run(request: RunRequest, interpreter: str, options: argparse.Namespace, *, is_last: bool) -> int:
    with RunnerProcess(
        interpreter,
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
                code = _exit_code(outcome)
                if code or is_last:
                    # At once: the script may take minutes for its own clean-up.
                    show(result, as_json=options.json)
                    report(result, options.sarif)
                    code = code or gated(result, options.fail_on, is_checked=options.check, say=say)
                return code
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
            say(progress.phase)
            return
        now = time.monotonic()
        if now < self._next_progress:
            return
        self._next_progress = now + SECONDS_BETWEEN_PROGRESS
        is_told = not self._is_focused and progress.seen > 1
        regions = f", {progress.complete} of {progress.seen} regions complete" if is_told else ""
        say(f"{progress.phase}: {progress.region}, {count_text(progress.calls, 'call')}{regions}")


def _exit_code(outcome: Outcome) -> int:
    error = ending_error(outcome)
    return error.exit_code if isinstance(error, RunError) else 0
