"""A result as people read it in a terminal: the source with the times beside its regions, and a table.

Drawn by rich: in colour on a terminal, plain when piped.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Final

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from kinetoscope_core.analysis.findings import BOUNDS
from kinetoscope_core.errors import UsageError
from kinetoscope_core.output.measures_text import active, largest_text, region_text, unmeasured_text
from kinetoscope_core.output.ranks_text import whose_numbers
from kinetoscope_core.output.table import BOUND_STYLES, contents_tables, ranks_table, region_table
from kinetoscope_core.output.tree import Row, arranged
from kinetoscope_core.results.checks import Checked, summary, verdict
from kinetoscope_core.results.contents import Contents
from kinetoscope_core.results.measures import Finding, RegionMeasures, Unmeasured
from kinetoscope_core.results.result import Result, rows_of
from kinetoscope_core.results.store import StoredRun
from kinetoscope_core.text import count_text, cut, printable, short_path, size_text, time_text
from kinetoscope_core.wording import WHAT_TO_ADD

_CONTEXT_LINES = 1
_MOST_NAMES_AT_A_LINE = 4
_LONGEST_NAME_AT_A_LINE = 100
_MOST_FINDINGS_OF_A_REGION = 4


def print_result(console: Console, result: Result, sources: Mapping[str, str]) -> None:
    """Prints the annotated sources, the table and what it was measured on. `sources` maps paths to their text."""
    by_file: defaultdict[str, list[Row]] = defaultdict(list)
    for region in (*rows_of(result), *result.unmeasured):
        if region.file is not None and region.line is not None and region.file in sources:
            by_file[region.file].append(region)
    for file, regions in by_file.items():
        _print_source(console, file, sources[file].splitlines(), regions)
    # What torch itself marks (ProfilerStep, optimizers) has no line; of interest where there are no lines at all.
    rows = [region for region in rows_of(result) if region.file is not None or result.run is None]
    has_cuda = result.device_total_ns is not None
    unmeasured = [each for each in result.unmeasured if each.file is not None or result.run is None]
    if rows or unmeasured:
        console.print(region_table(console, arranged(result, [*rows, *unmeasured]), has_cuda=has_cuda))
    if (ranks := ranks_table(result)) is not None:
        console.print(ranks)
    if result.contents is not None:
        _print_contents(console, result.contents, has_cuda=has_cuda)
    for line in (*_findings(result, rows if result.contents is None else rows_of(result)), *_expectations(result)):
        console.print(line, soft_wrap=True)
    for line in _footer(result):
        console.print(line, soft_wrap=True)


def _print_contents(console: Console, contents: Contents, *, has_cuda: bool) -> None:
    activities = count_text(contents.activities, "GPU activity") if contents.activities else "no GPU work"
    console.print(f"The recording has none of your regions. It has {activities}:", soft_wrap=True)
    for table in contents_tables(contents, has_cuda=has_cuda):
        console.print(table)
    if not contents.phases:
        console.print("No phases of a step: it has no backward pass, optimizer step or DataLoader.", soft_wrap=True)
    console.print(WHAT_TO_ADD, soft_wrap=True)


def _print_source(console: Console, file: str, lines: Sequence[str], regions: Iterable[Row]) -> None:
    at_line: defaultdict[int, list[Row]] = defaultdict(list)
    for region in regions:
        at_line[region.line or 0].append(region)
    console.print(Text(short_path(file), style="bold"), soft_wrap=True)
    shown = sorted({near for line in at_line for near in range(line - _CONTEXT_LINES, line + _CONTEXT_LINES + 1)})
    shown = [number for number in shown if 1 <= number <= len(lines)]
    width = max((len(printable(lines[number - 1].expandtabs())) for number in shown), default=0)
    previous = 0
    for number in shown:
        if number > previous + 1:
            console.print(Text("     ⋮", style="dim"))
        previous = number
        code = printable(lines[number - 1].expandtabs())
        here = at_line.get(number, [])
        text = Text().append(f"{number:>5} ", style="dim").append(code, style="bold" if here else "dim")
        for index, region in enumerate(here[:_MOST_NAMES_AT_A_LINE]):
            if index:
                console.print(text, soft_wrap=True)
                text = Text(" " * 6)
            text.append(" " * (width + 8 - len(text)))
            if len(here) > 1:
                text.append(f"{cut(printable(region.name), _LONGEST_NAME_AT_A_LINE)}: ")
            if isinstance(region, Unmeasured):
                text.append(unmeasured_text(region), style="dim")
            else:
                text.append(region_text(region), style=BOUND_STYLES.get(region.bound or "", "default"))
        console.print(text, soft_wrap=True)
        if len(here) > _MOST_NAMES_AT_A_LINE:
            more = len(here) - _MOST_NAMES_AT_A_LINE
            console.print(Text(" " * (width + 8) + f"and {count_text(more, 'more name')} (table below)", style="dim"))
    console.print()


def _findings(result: Result, shown: Sequence[RegionMeasures]) -> list[Text]:
    """What was found, the costliest of each region; bounds stand in the table, and hints in editors alone."""
    lines: list[Text] = []
    more = hints = suppressed = 0
    for region in shown:
        found = [each for each in region.findings if each.code not in BOUNDS]
        told = [each for each in active(found) if each.severity != "hint"]
        more += len(told[_MOST_FINDINGS_OF_A_REGION:])
        hints += len(active(found)) - len(told)
        suppressed += len(found) - len(active(found))
        place = f"{short_path(region.file)}:{region.line}  " if region.file else ""
        lines += [_finding_line(place, finding) for finding in told[:_MOST_FINDINGS_OF_A_REGION]]
    lines += [_finding_line("", finding) for finding in active(result.findings)]
    suppressed += len(result.findings) - len(active(result.findings))
    left_out = [f"{more} that cost less"] if more else []
    left_out += [count_text(hints, "hint")] if hints else []
    left_out += [f"{suppressed} that a comment switches off"] if suppressed else []
    if left_out:
        lines.append(Text(f"  Shown only with --json: {', '.join(left_out)}", style="dim"))
    if lines:
        lines.insert(0, Text("\nFindings (kinetoscope explain CODE says more)", style="bold"))
        lines.append(Text())
    return lines


def _finding_line(place: str, finding: Finding) -> Text:
    style = "yellow" if finding.severity == "warning" else "cyan"
    line = Text(f"  {place}").append(f"{finding.severity}: {finding.code}", style=style)
    return line.append(f"  {printable(finding.message)}")


_VERDICTS: Final = {True: ("holds", "green"), False: ("broken", "red"), None: ("not checked", "yellow")}


def _expectations(result: Result) -> list[Text]:
    """What the source expects, each term once for all names at its line."""
    terms: defaultdict[tuple[str, int, str], list[Checked]] = defaultdict(list)
    for each in result.expectations:
        terms[each.file, each.line, each.text].append(each)
    if not terms:
        return []
    lines = [Text("\nExpectations", style="bold")]
    for (file, row, text), outcomes in terms.items():
        word, style = _VERDICTS[verdict(outcomes)]
        line = Text(f"  {short_path(file)}:{row}  ").append(f"{word}: {text}", style=style)
        lines.append(line.append(f"  {summary(outcomes)}"))
    return [*lines, Text()]


def _footer(result: Result) -> list[str]:
    lines = [f"{whose_numbers(result)}."] if len(result.ranks) > 1 else []
    if result.device is not None:
        count = f"{result.device.count} × " if result.device.count > 1 else ""
        lines.append(
            f"Device: {count}{printable(result.device.name)}"
            + (f", torch {printable(result.torch)}" if result.torch else "")
        )
    elif result.torch is not None:
        lines.append(f"torch {printable(result.torch)}")
    if result.device_total_ns is not None and result.outside_regions_ns is not None:
        outside = result.outside_regions_ns
        where = f"{time_text(outside)} of it outside any region" if outside else "all inside regions"
        lines.append(f"GPU time: {time_text(result.device_total_ns)}, {where}")
    if result.backward is not None and any(region.module for region in result.regions):
        of_modules = time_text(result.backward.of_regions_ns)
        lines.append(f"Backward: {time_text(result.backward.total_ns)} of GPU time, {of_modules} of it these modules'")
    if result.run is not None and result.run.was_ended_early:
        lines.append("The script was ended once enough was measured; --to-the-end lets it run to its end.")
    if result.no_cuda_because is not None:
        lines.append(f"No CUDA times: {printable(result.no_cuda_because)}")
    return lines + [f"Trace: {short_path(str(trace))}" for trace in result.traces]


def print_runs(console: Console, runs: Sequence[StoredRun]) -> None:
    """Lists stored runs: what ran, when, on what, what took longest, and where its traces are."""
    if not runs:
        console.print("No runs are stored yet. To make one: kinetoscope profile SCRIPT")
        return
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for heading in ("Run", "Started", "Script", "Device", "Largest region"):
        table.add_column(heading, overflow="fold")
    for heading in ("Regions", "Size"):
        table.add_column(heading, justify="right")
    damaged: list[StoredRun] = []
    for run in runs:
        try:
            summary = run.summary()
        except UsageError:
            damaged.append(run)
            continue
        started = "" if summary.started is None else datetime.fromisoformat(summary.started).astimezone()
        table.add_row(
            printable(run.id) + (" (baseline)" if run.is_baseline else " (pinned)" if run.is_pinned else ""),
            f"{started:%Y-%m-%d %H:%M}" if started else "",
            cut(summary.title, 500),
            "CPU" if summary.device is None else printable(summary.device.name),
            "" if summary.largest is None else largest_text(summary.largest),
            str(summary.regions),
            size_text(run.size_bytes),
        )
    console.print(table)
    if damaged:
        names = ", ".join(printable(run.id) for run in damaged)
        console.print(Text(f"{count_text(len(damaged), 'run')} cannot be read; delete: {names}"), soft_wrap=True)
    console.print(Text(f"Results and traces: {printable(str(runs[0].folder.parent))}"), soft_wrap=True)
