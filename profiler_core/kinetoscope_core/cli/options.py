"""The options of the `kinetoscope` command, and what is wrong with those given. docs/cli.md describes them."""

import argparse
import re
import shlex
import shutil
from collections.abc import Iterable
from pathlib import Path

from kinetoscope_core import __version__
from kinetoscope_core.analysis.findings import BY_CODE
from kinetoscope_core.cli import compare, sweep
from kinetoscope_core.errors import UsageError
from kinetoscope_core.runner.request import ModuleChoice, RunRequest
from kinetoscope_core.text import printable

_DEFAULTS = RunRequest("")
_OF_COMMANDS = "kinetoscope profile -- torchrun --nproc-per-node 2 train.py"
_LAUNCHERS = ("torchrun", "accelerate", "deepspeed", "pytest", "python", "python3", "bash", "mpirun", "srun", "uv")
"""Commands that start Python, also where they are not on our own path."""
_MODULE_CHOICE = re.compile(r"depth=\d+|[^\W\d]\w*(,[^\W\d]\w*)*")


def parse(arguments: list[str], elsewhere: Iterable[str]) -> tuple[argparse.Namespace, list[str]]:
    """The options, and the script's own arguments. `elsewhere` names commands that packages above the core have.

    Raises `UsageError`; argparse itself ends the process for what it refuses.
    """
    own, script_arguments = arguments, list[str]()
    if "--" in arguments:
        cut = arguments.index("--")
        own, script_arguments = arguments[:cut], arguments[cut + 1 :]
    parser = argparse.ArgumentParser(
        prog="kinetoscope", description="CUDA and CPU times of record_function regions, beside their lines."
    )
    parser.add_argument("--version", action="version", version=f"kinetoscope {__version__}")
    log = argparse.ArgumentParser(add_help=False)
    parser.set_defaults(log=None)
    log.add_argument("--log", metavar="FILE", type=_new_file, help="append a log to this file, for bug reports")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    _add_profile(commands.add_parser("profile", parents=[log], help="run a script and measure its regions"))
    _add_sweep(commands.add_parser("sweep", parents=[log], help="run a script in several settings, and compare them"))
    _add_read(commands.add_parser("read", parents=[log], help="measure the regions of Kineto traces"))
    compare.add_to(commands.add_parser("compare", parents=[log], help="compare two runs, or several of each"))
    _add_runs(commands.add_parser("runs", help="list the stored runs, newest first, or show one of them"))
    _add_explain(commands.add_parser("explain", help="explain a finding: what it means and what helps"))
    _add_doctor(commands.add_parser("doctor", parents=[log], help="check Python, torch and GPU, and say what is wrong"))
    for name in sorted(set(elsewhere)):
        commands.add_parser(name, help=f"see kinetoscope {name} --help")
    options, unknown = parser.parse_known_args(_with_choice(own))
    if options.command == "profile":
        _check_what_runs(options, own, unknown, script_arguments)
    if unknown:
        raise UsageError(f"Unknown argument: {' '.join(unknown)}{_hint(options, unknown)}.")
    return options, script_arguments


def _check_what_runs(options: argparse.Namespace, own: list[str], unknown: list[str], after_dashes: list[str]) -> None:
    """A script, or a command after `--`. Raises `UsageError` for a command without it, and for options of scripts."""
    script: str | None = options.script
    if script is None:
        if not after_dashes:
            raise UsageError(f"Name the script to run, or any command after --, as in {_OF_COMMANDS}.")
        for name, is_given in (("-m", options.module), ("--python", options.python)):
            if is_given:
                raise UsageError(f"{name} is for scripts: write it into the command, as in -- python -m module.")
        if options.children:
            raise UsageError("--children is for scripts: of a command, all processes are measured.")
        return
    if options.module and not {"-m", "--module"} & {*own[own.index(script) :]}:  # python -m server has it behind
        return
    is_program = not Path(options.cwd or ".", script).exists() and "/" not in script and not script.endswith(".py")
    if is_program and (script in _LAUNCHERS or (unknown and shutil.which(script))):
        command = [*own[own.index(script) :], *after_dashes]
        whole = f"kinetoscope profile -- {shlex.join(command)}"
        raise UsageError(f"{script} is a command, not a Python script. A command comes after --: {printable(whole)}")


def _with_choice(arguments: list[str]) -> list[str]:
    """The arguments, with what `--modules` is told joined to it: argparse would take the script for it."""
    if "--modules" not in arguments:
        return arguments
    place = arguments.index("--modules")
    after = arguments[place + 1 : place + 2]
    is_choice = bool(after) and _MODULE_CHOICE.fullmatch(after[0]) is not None and not Path(after[0]).exists()
    given = after[0] if is_choice else ""
    return [*arguments[:place], f"--modules={given}", *arguments[place + 1 + is_choice :]]


def _hint(options: argparse.Namespace, unknown: list[str]) -> str:
    if options.command in ("profile", "sweep"):
        return "; the script's own arguments come after --"
    if options.command == "read" and options.source and not any(each.startswith("-") for each in unknown):
        return f"; each file has a --source of its own: {' '.join(f'--source {each}' for each in unknown)}"
    return f"; kinetoscope {options.command} --help has the options"


def _add_profile(parser: argparse.ArgumentParser) -> None:
    parser.usage = (
        "kinetoscope profile [options] SCRIPT [-- the script's arguments]\n"
        "       kinetoscope profile [options] -- COMMAND [the command's arguments]"
    )
    _add_run(parser)
    parser.add_argument("--children", action="store_true", help="measure the processes that the script starts, too")
    parser.add_argument("--json", action="store_true", help="print the result as JSON; the script prints to stderr")
    _add_gates(parser)


def _add_sweep(parser: argparse.ArgumentParser) -> None:
    sweep.add_to(parser)
    _add_run(parser)


def _add_run(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("script", metavar="SCRIPT", nargs="?", help="a Python file, or a module with -m")
    parser.add_argument("-m", "--module", action="store_true", help="SCRIPT is a module, as in python -m")
    parser.add_argument("--python", metavar="PATH", help="the Python that runs it (default: the first with torch)")
    parser.add_argument("--cwd", metavar="FOLDER", help="the script's working directory")
    parser.add_argument(
        "--env", metavar="NAME=VALUE", action="append", default=[], help="set an environment variable for the script"
    )
    parser.add_argument("--region", metavar="NAME|FILE:LINE", help="measure only this region, then end the script")
    parser.add_argument(
        "--modules",
        metavar="depth=N|CLASS,…",
        type=_module_choice,
        help="measure modules, too, as if each forward were a region: how deep below the outermost, or of which classes"
        " (as many as can be read)",
    )
    parser.add_argument(
        "--warmup",
        metavar="N",
        type=_count,
        default=_DEFAULTS.warmup,
        help="warm-up calls of a region, which are not measured (%(default)s)",
    )
    parser.add_argument(
        "--active",
        metavar="N",
        type=_positive,
        default=_DEFAULTS.active,
        help="least number of calls of a region to measure (%(default)s)",
    )
    parser.add_argument("--to-the-end", action="store_true", help="let the script run to its end; no --budget then")
    parser.add_argument(
        "--budget",
        metavar="SECONDS",
        type=_seconds,
        default=_DEFAULTS.budget_s,
        help="longest time that the profiler records (%(default)g)",
    )
    parser.add_argument(
        "--repeat", metavar="N", type=_positive_runs, default=1, help="run it N times: samples for a comparison"
    )
    parser.add_argument("--time-limit", metavar="SECONDS", type=_seconds, help="longest time of the run (no limit)")


def _module_choice(text: str) -> ModuleChoice:
    if text and _MODULE_CHOICE.fullmatch(text) is None:
        raise argparse.ArgumentTypeError(f"{text!r} is neither depth=N nor names of classes, as in Block,MLP")
    name, equals, depth = text.partition("=")
    if equals:
        return ModuleChoice(depth=int(depth))
    return ModuleChoice(classes=tuple(filter(None, name.split(","))))


def _add_gates(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--fail-on", metavar="CODE,…", type=_codes, default=(), help="exit with 4 if one is found")
    parser.add_argument(
        "--check",
        action="store_true",
        help="exit with 4 if an expectation in the source is broken, with 5 if one cannot be checked",
    )
    parser.add_argument(
        "--sarif",
        metavar="FILE",
        type=_new_file,
        help="findings and broken expectations, for code-scanning pages",
    )


def _add_read(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("traces", metavar="TRACE", nargs="+", type=Path, help="a Kineto trace, gzipped or not")
    parser.add_argument(
        "--source", metavar="FILE", action="append", default=[], type=Path, help="show the regions in this source file"
    )
    parser.add_argument("--json", action="store_true", help="print the result as JSON")
    _add_gates(parser)


def _add_runs(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("run", metavar="RUN", nargs="?", help="the id of a stored run, or last, to show it")
    what = parser.add_mutually_exclusive_group()
    what.add_argument("--json", action="store_true", help="print the run's result as JSON")
    what.add_argument("--pin", dest="is_pinned", action="store_true", default=None, help="keep it until it is deleted")
    what.add_argument("--unpin", dest="is_pinned", action="store_false", default=None, help="undo --pin")
    what.add_argument(
        "--baseline",
        dest="is_baseline",
        action="store_true",
        default=None,
        help="compare later runs with this one",
    )
    what.add_argument("--no-baseline", dest="is_baseline", action="store_false", default=None, help="undo --baseline")
    what.add_argument("--delete", action="store_true", help="remove it with its traces")


def _add_explain(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("code", metavar="CODE", help="the code of a finding, such as overhead-bound")


def _add_doctor(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("script", metavar="SCRIPT", nargs="?", help="check the Python that would run this script")
    parser.add_argument("--python", metavar="PATH", help="check this Python (default: the one that profile would take)")
    parser.add_argument("--json", action="store_true", help="print the answer as JSON")


def _new_file(text: str) -> Path:
    path = Path(text)
    if path.is_dir() or not path.parent.is_dir():
        raise argparse.ArgumentTypeError(f"{text!r} cannot be written; name a file in an existing folder")
    return path


def _codes(text: str) -> tuple[str, ...]:
    codes = tuple(code.strip() for code in text.split(","))
    for code in codes:
        if code not in BY_CODE:
            raise argparse.ArgumentTypeError(f"{code!r} is not a finding; the findings are {', '.join(BY_CODE)}")
    return codes


def _count(text: str) -> int:
    if not text.isdigit():
        raise argparse.ArgumentTypeError(f"{text!r} is not a number of calls (0, 1, 2, …)")
    return int(text)


def _positive(text: str) -> int:
    if _count(text) == 0:
        raise argparse.ArgumentTypeError("at least one call must be measured")
    return int(text)


def _positive_runs(text: str) -> int:
    if not text.isdigit() or int(text) == 0:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number of runs (1, 2, …)")
    return int(text)


def _seconds(text: str) -> float:
    try:
        seconds = float(text)
    except ValueError:
        seconds = 0.0
    if not 0 < seconds < float("inf"):
        raise argparse.ArgumentTypeError(f"{text!r} is not a number of seconds above 0")
    return seconds
