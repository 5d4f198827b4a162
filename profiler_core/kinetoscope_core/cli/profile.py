"""`kinetoscope profile`: runs a script, once or several times, and shows what its regions took."""

import argparse
from collections.abc import Sequence

from kinetoscope_core.cli.gates import gated
from kinetoscope_core.cli.running import (
    Teller,
    chosen_interpreter,
    exit_code_of,
    process_of,
    request_of,
    signals_cancel,
)
from kinetoscope_core.cli.showing import report, say, show
from kinetoscope_core.errors import RunCancelled
from kinetoscope_core.jobs.profile import Profiling
from kinetoscope_core.results.store import Store
from kinetoscope_core.runner.request import RunRequest


def run(options: argparse.Namespace, script_arguments: Sequence[str]) -> int:
    """Carries out the command. With `--repeat` each run is stored and the last one shown, which is the first that fails
    or is cancelled.
    """
    request = request_of(options, script_arguments)
    interpreter = chosen_interpreter(request)
    if options.repeat == 1:
        return _one_run(request, interpreter, options, is_last=True)
    number = code = 0
    while number < options.repeat and not code:
        number += 1
        say(f"run {number} of {options.repeat}")
        code = _one_run(request, interpreter, options, is_last=number == options.repeat)
    say(f"{number} of {options.repeat} runs were begun; what each measured is stored (kinetoscope runs).")
    return code


def _one_run(request: RunRequest, interpreter: str, options: argparse.Namespace, *, is_last: bool) -> int:
    with process_of(request, interpreter, keeps_stdout=options.json, with_children=options.children) as runner:
        profiling = Profiling(request, Store(), runner, on_progress=Teller(is_focused=options.region is not None))
        was_cancelled = False

        def cancel(by_terminal: bool) -> bool:
            nonlocal was_cancelled
            was_cancelled = True
            return profiling.cancel(by_terminal=by_terminal)

        with signals_cancel(cancel):
            try:
                result, outcome = profiling.run()
                code = exit_code_of(outcome)
                if was_cancelled and not is_last:  # also where this run had all that it measures
                    code = code or RunCancelled.exit_code
                if code or is_last:
                    # At once: the script may take minutes for its own clean-up.
                    show(result, as_json=options.json)
                    report(result, options.sarif)
                    code = code or gated(result, options.fail_on, is_checked=options.check, say=say)
                return code
            finally:
                profiling.finish()
