"""The whole story of a region as a Markdown table. Also what a hint's tooltip and the details say."""

from collections.abc import Collection, Iterable, Iterator, Sequence
from itertools import groupby
from pathlib import Path
from typing import Final

from lsprotocol import types

from kinetoscope_core.analysis.findings import BOUNDS
from kinetoscope_core.kernel_names import short_kernel_name
from kinetoscope_core.output.measures_text import bound_text, raised_note, unmeasured_text
from kinetoscope_core.results.checks import Check, summary, verdict
from kinetoscope_core.results.measures import Breakdown, ChainLink, RegionMeasures, Spread, Unmeasured
from kinetoscope_core.results.result import Result
from kinetoscope_core.source.expectations import Expectation
from kinetoscope_core.text import count_text, cut, printable, time_text
from kinetoscope_server.features.expectations import checked
from kinetoscope_server.features.hover import compared, ranks
from kinetoscope_server.features.hover.links import Links
from kinetoscope_server.results.by_file import Placed, slowest_first
from kinetoscope_server.results.changes import Changes
from kinetoscope_server.results.comparisons import Comparisons
from kinetoscope_server.results.titles import device_text, when_text
from kinetoscope_server.text.documents import Document
from kinetoscope_server.text.finding_pages import page_of
from kinetoscope_server.text.foreign import escaped

_MOST_OF_A_NAME = 60
_LONGEST_TITLE = 300
_MOST_LINKS = 8
_MOST_NAMES = 12
_MOST_UNMEASURED = 3
_MOST_FINDINGS = 8
_SHOWN = 5  # kernels and operators


def hover(
    document: Document,
    placed: Sequence[Placed],
    position: types.Position,
    changes: Changes,
    comparisons: Comparisons,
    beside: Collection[str] = (),
    *,
    has_links: bool = False,
) -> types.Hover | None:
    """What is known of the regions that are entered at the position's line.

    `beside` are the codes of findings that the client itself shows there; `has_links` says that it follows links that
    run commands.
    """
    row = position.line
    here = [each for each in placed if each.region.statement_line - 1 <= row <= each.region.last_line - 1]
    if not here:
        return None
    links = Links(document.uri, here) if has_links else None
    story = text(
        here, changes, comparisons, document.path, beside=beside, links=links, expected=checked(document, here)
    )
    markdown = types.MarkupContent(types.MarkupKind.Markdown, story)
    return types.Hover(markdown, document.line_range(here[0].region.line - 1))


def text(
    here: Sequence[Placed],
    changes: Changes,
    comparisons: Comparisons,
    path: str,
    most_tables: int = 3,
    beside: Collection[str] = (),
    links: Links | None = None,
    expected: Sequence[Check] = (),
) -> str:
    """All measures of a line in Markdown: a table each, one for all where there are many names."""
    blocks = [*_origin(here[0]), *([links.of_the_region(beside)] if links else []), *_expected(expected)]
    forwards = [each for each in here if each.measured.is_forward]
    here = here if len(forwards) == 1 else [each for each in here if not each.measured.is_forward] or here
    measured = [(each, each.measured.region) for each in here if isinstance(each.measured.region, RegionMeasures)]
    if len(forwards) == len(here) > 1:
        blocks += [*_warnings(here[0]), *_modules(region for _, region in measured)]
    elif len(measured) > most_tables:
        regions = [region for _, region in measured]
        blocks += [*_warnings(measured[0][0]), _names_table(regions), *_findings(regions, beside, links)]
    else:
        for each, region in measured:
            blocks += _story(each, region, comparisons, beside, links)
    blocks += _unmeasured(here)
    left_out = [each for each in here[0].measured.shown.result.problems if each.code == "modules-left-out"]
    blocks += [f"*{escaped(each.message)}*" for each in left_out if here[0].measured.is_module]
    changed = changes.since(here[0].measured.shown, path)
    if changed:
        blocks.append(f"*Changed since: {', '.join(map(escaped, changed))}.*")
    blocks.append(_footer(here[0]))
    return "\n\n".join(blocks)


def _origin(placed: Placed) -> Iterator[str]:
    """Where the line's times are from, if not from the result that the file shows."""
    if placed.origin:
        origin = placed.origin[0].upper() + placed.origin[1:]
        yield f"*{escaped(origin)}: the result that this file shows has no times here.*"


def _story(
    placed: Placed, region: RegionMeasures, comparisons: Comparisons, beside: Collection[str], links: Links | None
) -> Iterator[str]:
    title = f"**{escaped(cut(region.name, _LONGEST_TITLE))}**"
    if region.names > 1:
        title += f" · {region.names} names"
    if region.module is not None:
        title += f" · {escaped(region.module.class_name)}{', compiled' if region.module.is_compiled else ''}"
    if region.bound is not None:
        title += f" · {bound_text(region.bound)}"
    yield title
    yield from _warnings(placed)
    yield from compared.text(placed, comparisons, links)
    yield _table(region)
    yield from ranks.text(placed.measured.shown.result, region)
    yield from _findings([region], beside, links)
    yield from _kernels(region.breakdown, region.cuda_total_ns)
    yield from _operators(region.breakdown)
    yield "\n".join(f"- {note}" for note in _notes(region))
    names = placed.measured.names
    if names:
        yield _names_table(names[:_MOST_NAMES])
    if len(names) > _MOST_NAMES:
        yield f"*and {count_text(len(names) - _MOST_NAMES, 'more name')}*"
    yield from _modules(placed.measured.inside)


def _unmeasured(here: Sequence[Placed]) -> Iterator[str]:
    """What was entered and has no time: why, and how it gets one."""
    found = [(each, each.measured.region) for each in here if isinstance(each.measured.region, Unmeasured)]
    for placed, region in found[:_MOST_UNMEASURED]:
        yield f"**{escaped(cut(region.name, _LONGEST_TITLE))}** · {unmeasured_text(region)}"
        yield from _warnings(placed)
        yield " ".join(_why_unmeasured(region))
    if len(found) > _MOST_UNMEASURED:
        yield f"*and {count_text(len(found) - _MOST_UNMEASURED, 'more name')} without times*"


def _why_unmeasured(region: Unmeasured) -> Iterator[str]:
    calls = count_text(region.calls, "call")
    if region.at_least_ns is None:
        yield f"The region was entered, but none of its {calls} has a valid start and end. Record it again."
        return
    yield f"No call had ended when the recording stopped ({calls} seen), so the region has no time."
    if region.cuda_at_least_ns:
        yield f"By then {time_text(region.cuda_at_least_ns)} of CUDA work had been launched."
    yield "Add a region around what repeats inside it, or give the recording more time (`budgetSeconds`)."


def _findings(regions: Sequence[RegionMeasures], beside: Collection[str], links: Links | None) -> Iterator[str]:
    """All but those that are shown beside it; the bound stands in the title."""
    found = [finding for region in regions for finding in region.findings]
    told = [each for each in found if each.code not in BOUNDS and each.code not in beside]
    lines = [
        f"- [{each.code}]({page_of(each.code)}){' (ignored here)' if each.is_suppressed else ''}:"
        f" {escaped(each.message)}{links.of_finding(each) if links else ''}"
        for each in told[:_MOST_FINDINGS]
    ]
    if len(told) > _MOST_FINDINGS:
        lines.append(f"- *and {len(told) - _MOST_FINDINGS} more: see Details*")
    if lines:
        yield "\n".join(lines)


_VERDICTS: Final = {True: "holds", False: "broken", None: "not checked"}


def _expected(checks: Sequence[Check]) -> Iterator[str]:
    """What comments at the regions expect, with the numbers."""
    lines = [
        f"- expected {escaped(term.text)}: **{_VERDICTS[verdict(outcomes)]}**, {escaped(summary(outcomes))}"
        for term, outcomes in checks
        if isinstance(term, Expectation) and outcomes
    ]
    if lines:
        yield "\n".join(lines)


def _warnings(placed: Placed) -> Iterator[str]:
    if placed.reasons:
        yield "*Stale: " + "; ".join(map(escaped, placed.reasons)) + ".*"


def _table(region: RegionMeasures) -> str:
    lines = ["| | median | min | max | first | sum |", "|:--|--:|--:|--:|--:|--:|"]
    lines += _cuda_rows(region)
    lines += _rest("CUDA of nested regions", region.cuda_total_ns, region.cuda_self_ns)
    if region.backward_cuda_ns is not None and region.backward_cuda_ns.max:
        lines += _row("backward CUDA, later", region.backward_cuda_ns)
    lines += _row("CPU total", region.cpu_total_ns, region.first.cpu_total_ns)
    lines += _row("CPU self", region.cpu_self_ns)
    lines += _part("of it waiting for the autograd thread", region.breakdown.cpu_autograd_wait_ns)
    lines += _part("CPU of nested regions", region.breakdown.cpu_nested_ns)
    lines += _part("CPU of operators", region.breakdown.cpu_operators_ns)
    lines += _part("CPU of CUDA API calls", region.breakdown.cpu_api_calls_ns)
    return "\n".join(lines)


def _cuda_rows(region: RegionMeasures) -> Iterator[str]:
    """One row for those that are the same."""
    rows: dict[Spread | None, list[str]] = {}
    for name, spread in (("total", region.cuda_total_ns), ("self", region.cuda_self_ns), ("busy", region.cuda_busy_ns)):
        rows.setdefault(spread, []).append(name)
    for spread, names in rows.items():
        first = region.first.cuda_total_ns if "total" in names else None
        yield from _row(f"CUDA {', '.join(names)}", spread, first)


def _row(name: str, spread: Spread | None, first: int | None = None) -> list[str]:
    if spread is None:
        return []
    cells = [time_text(value) for value in (spread.median, spread.min, spread.max)]
    cells += ["" if first is None else time_text(first), time_text(spread.sum)]
    return [f"| {name} | " + " | ".join(cells) + " |"]


def _rest(name: str, total: Spread | None, own: Spread | None) -> list[str]:
    """Total less self: of the sums alone, as a difference of medians is the median of nothing."""
    return [] if total is None or own is None else _part(name, total.sum - own.sum)


def _part(name: str, ns: int) -> list[str]:
    return [f"| {name} | | | | | {time_text(ns)} |"] if ns else []


def _kernels(parts: Breakdown, total: Spread | None) -> Iterator[str]:
    if not parts.kernels or total is None:
        return
    lines = [
        f"| {_head('kernels', len(parts.kernels), parts.kernel_names)} | count | CUDA | share |",
        "|:--|--:|--:|--:|",
    ]
    for each in parts.kernels[:_SHOWN]:
        share = f"{100 * each.total_ns / total.sum:.1f} %" if total.sum else ""
        lines.append(
            f"| {_short(short_kernel_name(each.name))} | {each.count} | {time_text(each.total_ns)} | {share} |"
        )
    yield "\n".join(lines)


def _operators(parts: Breakdown) -> Iterator[str]:
    if not parts.operators:
        return
    has_cuda = parts.cuda_self_ns is not None
    lines = [f"| {_head('operators', len(parts.operators), parts.operator_names)} | count | CPU |", "|:--|--:|--:|"]
    if has_cuda:
        lines = [lines[0] + " CUDA |", lines[1] + "--:|"]
    for each in parts.operators[:_SHOWN]:
        name = _short(each.name) + (", autograd thread" if each.is_on_other_thread else "")
        cuda = f" {time_text(each.cuda_total_ns)} |" if each.cuda_total_ns is not None else ""
        lines.append(f"| {name} | {each.count} | {time_text(each.cpu_total_ns)} |{cuda}")
    yield "\n".join(lines)


def _head(noun: str, kept: int, number: int) -> str:
    shown = min(kept, _SHOWN)
    return noun if shown == number else f"{noun}, {shown} of {number}"


def _way(chain: Sequence[ChainLink]) -> str:
    """The links from region to kernel; of a long chain the ends."""
    shown = (short_kernel_name(link.name) if link.kind == "activity" else link.name for link in chain)
    names = [name for name, _ in groupby(map(_short, shown))]
    if len(names) > _MOST_LINKS:
        names = [*names[: _MOST_LINKS - 4], "…", *names[-4:]]
    return " → ".join(names)


def _short(name: str) -> str:
    """The beginning of a name, without what many begin with: those of kernels have up to thousands of characters."""
    name = name.removeprefix("autograd::engine::evaluate_function: ")
    return escaped(name if len(name) <= _MOST_OF_A_NAME else name[: _MOST_OF_A_NAME - 1] + "…")


def _notes(region: RegionMeasures) -> Iterator[str]:
    calls = f"{region.measured} of {count_text(region.calls, 'call')} measured"
    if region.is_cold:
        calls += ", all of them cold: there were too few calls for a warm-up"
    if region.raised:
        calls += f"; {escaped(raised_note(region))}"
    if region.unfinished:
        calls += f"; {region.unfinished} had not ended when the recording stopped"
    parts = region.breakdown
    if parts.threads > 1:
        others = count_text(parts.on_other_threads, "call")
        calls += f", on {parts.threads} threads: {others} not on the thread of the first"
    yield calls
    if region.slowest is not None:
        yield f"slowest: {escaped(region.slowest)}"
    if region.launches is not None:
        yield f"{count_text(region.launches.median, 'GPU launch')} per call"
    if parts.chain:
        yield f"path to the most expensive kernel: {_way(parts.chain)}"
    if region.overhead_ns:
        yield f"the CPU times include {time_text(region.overhead_ns)} of profiler overhead"


def _names_table(regions: Sequence[RegionMeasures]) -> str:
    has_cuda = any(region.cuda_total_ns is not None for region in regions)
    heads = ["name", *(["CUDA total", "CUDA self"] if has_cuda else []), "CPU total", "CPU self", "measured"]
    lines = ["| " + " | ".join(heads) + " |", "|:--|" + "--:|" * (len(heads) - 1)]
    for region in regions:
        times = [region.cuda_total_ns, region.cuda_self_ns] if has_cuda else []
        times += [region.cpu_total_ns, region.cpu_self_ns]
        cells = [time_text(spread.median) if spread else "" for spread in times]
        lines.append("| " + " | ".join([_short(region.name), *cells, str(region.measured)]) + " |")
    return "\n".join(lines)


def _modules(regions: Iterable[RegionMeasures]) -> Iterator[str]:
    """Modules, a row each, the slowest first, and how many more."""
    rows = slowest_first(regions)
    if rows:
        yield _names_table(rows[:_MOST_NAMES])
    if len(rows) > _MOST_NAMES:
        yield f"*and {count_text(len(rows) - _MOST_NAMES, 'more module')}*"


def _footer(placed: Placed) -> str:
    result = placed.measured.shown.result
    facts = [
        escaped(device_text(result)),
        f"torch {escaped(result.torch)}" if result.torch else "",
        *_run_facts(result),
    ]
    lines = [" · ".join(fact for fact in facts if fact)]
    if result.no_cuda_because is not None:
        lines.append(f"No CUDA times: {escaped(result.no_cuda_because)}")
    return "  \n".join(line for line in lines if line)


def _run_facts(result: Result) -> list[str]:
    run = result.run
    if run is None:
        return [f"from {', '.join(escaped(trace.name) for trace in result.traces)}"]
    what = f"python -m {run.script}" if run.is_module else f"python {Path(run.script).name}"
    command = cut(printable(" ".join([what, *run.arguments])), _LONGEST_TITLE)
    facts = [f"`{command.replace('`', chr(39))}`", escaped(when_text(run.started, with_seconds=True))]
    if run.is_prepared:
        facts.append("in a prepared interpreter")
    if run.has_own_profiler:
        facts.append("measured by the script's own profiler")
    return facts
