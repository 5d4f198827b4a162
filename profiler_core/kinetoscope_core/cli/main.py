"""The `kinetoscope` command: its subcommands of the core. Results go to stdout, all else to stderr.

Commands of packages above the core, such as `serve`, are looked up by their entry points.
"""

import argparse
import sys
from collections.abc import Callable, Mapping, Sequence
from importlib.metadata import entry_points
from io import TextIOWrapper
from typing import Final

from kinetoscope_core import log_file
from kinetoscope_core.analysis.findings.pages import text_of
from kinetoscope_core.cli import compare, doctor, profile, sweep
from kinetoscope_core.cli.gates import gated
from kinetoscope_core.cli.options import parse
from kinetoscope_core.cli.showing import console, report, say, show
from kinetoscope_core.errors import KinetoscopeError, RunCancelled, UsageError
from kinetoscope_core.jobs.measure import measure_traces
from kinetoscope_core.output.terminal import print_runs
from kinetoscope_core.results.alike import History
from kinetoscope_core.results.of_torch import is_of_torch
from kinetoscope_core.results.result import from_dict
from kinetoscope_core.results.store import Store
from kinetoscope_core.results.summary import title_of
from kinetoscope_core.text import count_text, shortlist

COMMANDS = "kinetoscope.commands"
"""The group of entry points that packages above the core have their commands in: functions of a list of arguments."""

OWN_COMMANDS = ("profile", "sweep", "read", "compare", "runs", "explain", "doctor")


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
        say(str(error))
        return error.exit_code
    except KeyboardInterrupt:  # outside a run, which has its own way to be cancelled
        say("Cancelled.")
        return RunCancelled.exit_code
    except BrokenPipeError:  # the reader of our output has seen enough
        sys.stdout = None  # type: ignore[assignment]
        return 0
    except OSError as error:
        say(f"The output could not be written: {error.strerror}.")
        return UsageError.exit_code


def _carried_out(options: argparse.Namespace, script_arguments: Sequence[str]) -> int:
    log_file.log_to(options.log)
    log_file.note("command %s", options.command)
    code = _COMMANDS[options.command](options, script_arguments)
    log_file.note("exit code %d", code)
    return code


def _read(options: argparse.Namespace, _: Sequence[str]) -> int:
    for file in options.source:
        if not file.is_file():
            raise UsageError(f"--source: there is no file {file}.")
    result = measure_traces(options.traces, [file.resolve() for file in options.source])
    show(result, as_json=options.json)
    placeless = [region for region in result.regions if region.file is None]
    strange = [region.name for region in placeless if not is_of_torch(region.name, region.file)]
    if options.source and strange:
        say(
            f"note: {count_text(len(strange), 'region')} of the trace {'stands' if len(strange) == 1 else 'stand'}"
            f" nowhere in the source, or at several lines: {shortlist(strange)}. Is it the script that was recorded?"
        )
    report(result, options.sarif)
    return gated(result, options.fail_on, is_checked=options.check, say=say)


def _compare(options: argparse.Namespace, _: Sequence[str]) -> int:
    code, why = compare.run(options, console())
    if code:
        say(f"Exit code {code}, because {why}.")
    return code


def _runs(options: argparse.Namespace, _: Sequence[str]) -> int:
    store = Store()
    if options.run is None:
        if options.delete or options.is_pinned is not None or options.is_baseline is not None:
            raise UsageError("Name the run to pin, delete or compare with. List them: kinetoscope runs")
        if options.json:
            raise UsageError("Name the run to print as JSON. List them: kinetoscope runs")
        print_runs(console(), store.runs())
    elif options.delete:
        store.delete(options.run)
    elif options.is_pinned is not None:
        store.pin(options.run, is_pinned=options.is_pinned)
    elif options.is_baseline is not None:
        _mark_baseline(store, options.run, is_baseline=options.is_baseline)
    else:
        show(from_dict(store.stored(options.run).result()), as_json=options.json)
    return 0


def _mark_baseline(store: Store, run: str, *, is_baseline: bool) -> None:
    history = History(store)
    run = store.stored(run).id
    ran = history.ran(run)
    if ran is None:
        raise UsageError(f"There is no stored run of a script {run}. List them: kinetoscope runs")
    (history.pin_baseline if is_baseline else history.unpin_baseline)(ran)
    now = "is now the baseline" if is_baseline else "is no longer the baseline"
    say(f"{run} {now} of {title_of(ran.run, ())}.")


def _explain(options: argparse.Namespace, _: Sequence[str]) -> int:
    sys.stdout.write(text_of(options.code))
    return 0


_COMMANDS: Final[Mapping[str, Callable[[argparse.Namespace, Sequence[str]], int]]] = {
    "profile": profile.run,
    "sweep": sweep.run,
    "read": _read,
    "compare": _compare,
    "runs": _runs,
    "explain": _explain,
    "doctor": doctor.run,
}
