"""The options of the `kinetoscope` command, and what is wrong with those given. docs/cli.md describes them."""

import argparse
from collections.abc import Iterable
from pathlib import Path

from kinetoscope_core import __version__
from kinetoscope_core.analysis.findings import BY_CODE
from kinetoscope_core.errors import UsageError
from kinetoscope_core.runner.request import RunRequest

_DEFAULTS = RunRequest("")


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
    log.add_argument("--log", metavar="FILE", type=_new_file, help="append what is done to this file, for a bug report")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    _add_profile(commands.add_parser("profile", parents=[log], help="run a script and measure its regions"))
    _add_read(commands.add_parser("read", parents=[log], help="measure the regions of Kineto traces"))
    _add_runs(commands.add_parser("runs", help="list the stored runs, newest first, or show one again"))
    _add_explain(commands.add_parser("explain", help="what a finding means, and what helps"))
    _add_doctor(
        commands.add_parser("doctor", parents=[log], help="say what is here to measure with, and what is wrong")
    )
    for name in sorted(set(elsewhere)):
        commands.add_parser(name, help=f"see kinetoscope {name} --help")
    options, unknown = parser.parse_known_args(own)
    if unknown:
        raise UsageError(f"Unknown: {' '.join(unknown)}{_hint(options, unknown)}.")
    return options, script_arguments


def _hint(options: argparse.Namespace, unknown: list[str]) -> str:
    if options.command == "profile":
        return "; the script's own arguments come after --"
    if options.command == "read" and options.source and not any(each.startswith("-") for each in unknown):
        return f"; each file has a --source of its own: {' '.join(f'--source {each}' for each in unknown)}"
    return f"; kinetoscope {options.command} --help has the options"


def _add_profile(parser: argparse.ArgumentParser) -> None:
    parser.usage = "kinetoscope profile [options] SCRIPT [-- the script's arguments]"
    parser.add_argument("script", metavar="SCRIPT", help="a Python file, or a module's name with -m")
    parser.add_argument("-m", "--module", action="store_true", help="SCRIPT is a module, as in python -m")
    parser.add_argument("--python", metavar="PATH", help="the interpreter (default: the active environment's)")
    parser.add_argument("--cwd", metavar="FOLDER", help="the script's working directory")
    parser.add_argument(
        "--env", metavar="NAME=VALUE", action="append", default=[], help="a variable of the script's environment"
    )
    parser.add_argument("--region", metavar="NAME|FILE:LINE", help="measure this region, and end then")
    parser.add_argument(
        "--warmup",
        metavar="N",
        type=_count,
        default=_DEFAULTS.warmup,
        help="calls that are run unmeasured (%(default)s)",
    )
    parser.add_argument(
        "--active",
        metavar="N",
        type=_positive,
        default=_DEFAULTS.active,
        help="calls to measure at least (%(default)s)",
    )
    parser.add_argument("--to-the-end", action="store_true", help="never end the script early; no budget")
    parser.add_argument(
        "--budget",
        metavar="SECONDS",
        type=_seconds,
        default=_DEFAULTS.budget_s,
        help="longest time under the profiler (%(default)g)",
    )
    parser.add_argument("--time-limit", metavar="SECONDS", type=_seconds, help="longest time for the whole run (none)")
    parser.add_argument("--json", action="store_true", help="print the result as JSON, the script's output to stderr")
    _add_findings(parser)


def _add_findings(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--fail-on", metavar="CODE,…", type=_codes, default=(), help="exit with 4 on such a finding")
    parser.add_argument(
        "--sarif", metavar="FILE", type=_new_file, help="write the findings as SARIF, for code scanning"
    )


def _add_read(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("traces", metavar="TRACE", nargs="+", type=Path, help="a Kineto trace, gzipped or not")
    parser.add_argument(
        "--source", metavar="FILE", action="append", default=[], type=Path, help="source whose regions have these names"
    )
    parser.add_argument("--json", action="store_true", help="print the result as JSON")
    _add_findings(parser)


def _add_runs(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("run", metavar="RUN", nargs="?", help="a run of that list, to be shown again")
    parser.add_argument("--json", action="store_true", help="print the run's result as JSON")


def _add_explain(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("code", metavar="CODE", help="the code of a finding, such as overhead-bound")


def _add_doctor(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("script", metavar="SCRIPT", nargs="?", help="the script whose interpreter is wanted (none)")
    parser.add_argument("--python", metavar="PATH", help="the interpreter (default: the one that profile would take)")
    parser.add_argument("--json", action="store_true", help="print it as JSON")


def _new_file(text: str) -> Path:
    path = Path(text)
    if path.is_dir() or not path.parent.is_dir():
        raise argparse.ArgumentTypeError(f"{text!r} cannot be written; name a file in a folder that there is")
    return path


def _codes(text: str) -> tuple[str, ...]:
    codes = tuple(code.strip() for code in text.split(","))
    for code in codes:
        if code not in BY_CODE:
            raise argparse.ArgumentTypeError(f"{code!r} is no finding; there are {', '.join(BY_CODE)}")
    return codes


def _count(text: str) -> int:
    if not text.isdigit():
        raise argparse.ArgumentTypeError(f"{text!r} is not a number of calls (0, 1, 2, …)")
    return int(text)


def _positive(text: str) -> int:
    if _count(text) == 0:
        raise argparse.ArgumentTypeError("at least one call must be measured")
    return int(text)


def _seconds(text: str) -> float:
    try:
        seconds = float(text)
    except ValueError:
        seconds = 0.0
    if not 0 < seconds < float("inf"):
        raise argparse.ArgumentTypeError(f"{text!r} is not a time in seconds, above 0")
    return seconds
