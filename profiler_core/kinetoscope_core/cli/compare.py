"""`kinetoscope compare A B`: what changed between two sides, and whether that is more than noise."""

import argparse
import sys
from collections.abc import Iterator

from rich.console import Console

from kinetoscope_core.cli.gates import CANNOT_TELL, FOUND
from kinetoscope_core.jobs.sides import compared
from kinetoscope_core.output.comparison_table import print_comparison, to_markdown
from kinetoscope_core.output.comparison_text import size_of
from kinetoscope_core.results.comparison import Change, Comparison, own_regions, to_json
from kinetoscope_core.results.store import Store
from kinetoscope_core.text import printable


def add_to(parser: argparse.ArgumentParser) -> None:
    """Adds the options of the command."""
    what = "a stored run, last, baseline, a result as JSON, or a trace; several with commas"
    parser.add_argument("a", metavar="A", help=f"before: {what}")
    parser.add_argument("b", metavar="B", nargs="?", default="last", help="after: the same (last)")
    form = parser.add_mutually_exclusive_group()
    form.add_argument("--json", action="store_true", help="print the comparison as JSON")
    form.add_argument("--markdown", action="store_true", help="print it as Markdown, for a pull request")
    parser.add_argument(
        "--fail-slower",
        metavar="PERCENT",
        type=_percent,
        help=f"exit with {FOUND} if a region is slower by that much, with {CANNOT_TELL} if it cannot tell",
    )


def run(options: argparse.Namespace, console: Console) -> tuple[int, str]:
    """Compares and prints. Returns the exit code, and why it is that. Raises a `KinetoscopeError`."""
    comparison = compared(Store(), options.a, options.b)
    if options.json:
        sys.stdout.buffer.write(to_json(comparison, is_indented=True))
        sys.stdout.flush()
    elif options.markdown:
        sys.stdout.write(to_markdown(comparison))
    else:
        print_comparison(console, comparison)
    return (0, "") if options.fail_slower is None else _gate(comparison, options.fail_slower)


def _percent(text: str) -> float:
    try:
        value = float(text.removesuffix("%"))
    except ValueError:
        value = -1.0
    if not 0 <= value < float("inf"):
        raise argparse.ArgumentTypeError(f"{text!r} is no percentage, such as 5%")
    return value / 100


def _gate(comparison: Comparison, limit: float) -> tuple[int, str]:
    times = list(_times(comparison))
    slower = [f"{name} by {size_of(each.change)}" for name, each in times if _is_slower(each, limit) and each.change]
    if slower:
        return FOUND, f"--fail-slower found: {', '.join(slower)}"
    if not times:
        return CANNOT_TELL, "the two sides have no region in common"
    no_verdict = [(name, each) for name, each in times if each.verdict in ("unknown", "same")]
    open_ones = [name for name, each in no_verdict if each.high is None or each.high > limit]
    if open_ones:
        return CANNOT_TELL, f"--fail-slower cannot tell of: {', '.join(open_ones)}"
    return 0, ""


def _is_slower(each: Change, limit: float) -> bool:
    return each.verdict == "slower" and each.change is not None and each.change >= limit


def _times(comparison: Comparison) -> Iterator[tuple[str, Change]]:
    for region in own_regions(comparison):
        if region.where == "both":
            for kind, change in (("CUDA", region.cuda_total_ns), ("CPU", region.cpu_total_ns)):
                if change is not None:
                    yield f"{printable(region.name)} ({kind})", change
