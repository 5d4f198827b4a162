"""`kinetoscope sweep`: runs a script in several settings by turns, and shows their times in one table."""

import argparse
import sys
from collections.abc import Sequence

from kinetoscope_core.cli.running import Teller, chosen_interpreter, request_of, runner_of, signals_cancel
from kinetoscope_core.cli.showing import console, say
from kinetoscope_core.errors import RunCancelled, RunError, UsageError
from kinetoscope_core.jobs.grid import Grid, axis_of
from kinetoscope_core.jobs.sweep import Sweeping
from kinetoscope_core.output.sweep_table import print_sweep
from kinetoscope_core.output.sweep_text import to_markdown
from kinetoscope_core.results.store import MOST_RUNS, Store
from kinetoscope_core.results.sweep import Sweep, Sweeps, to_json


def add_to(parser: argparse.ArgumentParser) -> None:
    """Adds the options that are not those of a run."""
    parser.usage = "kinetoscope sweep [options] SCRIPT --vary NAME=VALUE,… [-- the script's fixed arguments]"
    parser.add_argument(
        "--vary",
        metavar="NAME=VALUE,…",
        action="append",
        default=[],
        help="run with --NAME VALUE for each value: yes gives --NAME alone, an empty value leaves it out",
    )
    parser.add_argument(
        "--vary-env",
        metavar="NAME=VALUE,…",
        action="append",
        default=[],
        help="the same with an environment variable; an empty value leaves it as it is",
    )
    parser.add_argument("--show", metavar="ID|last", help="show a sweep that was made before")
    form = parser.add_mutually_exclusive_group()
    form.add_argument("--json", action="store_true", help="print the sweep as JSON; the script prints to stderr")
    form.add_argument("--markdown", action="store_true", help="print it as Markdown; the script prints to stderr")


def run(options: argparse.Namespace, script_arguments: Sequence[str]) -> int:
    """Carries out the command; the exit code is that of docs/cli.md."""
    axes = [axis_of(each) for each in options.vary]
    axes += [axis_of(each, is_environment=True) for each in options.vary_env]
    if options.show is not None:
        if options.script is not None or axes:
            raise UsageError("--show shows a sweep that was made; it runs nothing. Leave out the script and --vary.")
        _show(Sweeps(Store().root).sweep(options.show), options)
        return 0
    if options.script is None:
        raise UsageError("Name the script to run, or show a sweep again: kinetoscope sweep --show last")
    grid = Grid(tuple(axes))
    request = request_of(options, script_arguments)
    interpreter = chosen_interpreter(request)
    keeps_stdout = options.json or options.markdown
    runs = len(grid.settings()) * options.repeat
    if runs > MOST_RUNS:
        say(f"note: of {runs} runs only the last {MOST_RUNS} stay stored; the table stays whole.")
    sweeping = Sweeping(
        request,
        grid,
        options.repeat,
        Store(),
        lambda asked: runner_of(asked, interpreter, keeps_stdout=keeps_stdout),
        on_run=lambda number, count, setting: say(f"run {number} of {count}: {setting}"),
        on_progress=Teller(is_focused=options.region is not None),
    )
    with signals_cancel(lambda by_terminal: sweeping.cancel(by_terminal=by_terminal)):
        sweep = sweeping.run()
    _show(sweep, options)
    say(f"Show it again: kinetoscope sweep --show {sweep.id}")
    if sweep.is_cancelled:
        return RunCancelled.exit_code
    return RunError.exit_code if any(each.failed is not None for each in sweep.settings) else 0


def _show(sweep: Sweep, options: argparse.Namespace) -> None:
    if options.json:
        sys.stdout.buffer.write(to_json(sweep, is_indented=True))
    elif options.markdown:
        sys.stdout.write(to_markdown(sweep))
    else:
        print_sweep(console(), sweep)
    sys.stdout.flush()
