"""The whole story of a region as a Markdown table. Also what a hint's tooltip and the details say."""

from collections.abc import Iterator, Sequence
from pathlib import Path

from lsprotocol import types

from kinetoscope_core.measures import RegionMeasures, Spread
from kinetoscope_core.phrasing import bound_text
from kinetoscope_core.results import Result
from kinetoscope_core.text import count_text, printable, time_text
from kinetoscope_server.changes import Changes
from kinetoscope_server.documents import Document
from kinetoscope_server.measured import Placed


def hover(
    document: Document, placed: Sequence[Placed], position: types.Position, changes: Changes
) -> types.Hover | None:
    """What is known of the regions that are entered at the position's line."""
    row = position.line
    here = [each for each in placed if each.region.statement_line - 1 <= row <= each.region.last_line - 1]
    if not here:
        return None
    story = types.MarkupContent(types.MarkupKind.Markdown, text(here, changes, document.path))
    return types.Hover(story, document.line_range(here[0].region.line - 1))


def text(here: Sequence[Placed], changes: Changes, path: str, most_tables: int = 3) -> str:
    """All measures of a line in Markdown: a table each, one for all where there are many names."""
    blocks: list[str] = []
    if len(here) > most_tables:
        blocks += [*_warnings(here[0]), _names_table(here)]
    else:
        for each in here:
            blocks += _story(each)
    changed = changes.since(here[0].measured.shown, path)
    if changed:
        blocks.append(f"*Changed since: {', '.join(map(escaped, changed))}.*")
    blocks.append(_footer(here[0]))
    return "\n\n".join(blocks)


def _story(placed: Placed) -> Iterator[str]:
    region = placed.measured.region
    title = f"**{escaped(region.name)}**"
    if region.bound is not None:
        title += f" · {bound_text(region.bound)}"
    yield title
    yield from _warnings(placed)
    yield _table(region)
    notes = list(_notes(region))
    if notes:
        yield "\n".join(f"- {note}" for note in notes)


def _warnings(placed: Placed) -> Iterator[str]:
    if placed.reasons:
        yield "*Stale: " + "; ".join(placed.reasons) + ".*"


def _table(region: RegionMeasures) -> str:
    lines = ["| | median | min | max | first | sum |", "|:--|--:|--:|--:|--:|--:|"]
    lines += _row("CUDA total", region.cuda_total_ns, region.first.cuda_total_ns)
    lines += _row("CUDA self", region.cuda_self_ns)
    lines += _rest("CUDA of nested regions", region.cuda_total_ns, region.cuda_self_ns)
    lines += _row("CUDA busy", region.cuda_busy_ns)
    if region.backward_cuda_ns is not None and region.backward_cuda_ns.max:
        lines += _row("backward CUDA, later", region.backward_cuda_ns)
    lines += _row("CPU total", region.cpu_total_ns, region.first.cpu_total_ns)
    lines += _row("CPU self", region.cpu_self_ns)
    lines += _rest("CPU of nested regions, operators, CUDA calls", region.cpu_total_ns, region.cpu_self_ns)
    return "\n".join(lines)


def _row(name: str, spread: Spread | None, first: int | None = None) -> list[str]:
    if spread is None:
        return []
    cells = [time_text(value) for value in (spread.median, spread.min, spread.max)]
    cells += ["" if first is None else time_text(first), time_text(spread.sum)]
    return [f"| {name} | " + " | ".join(cells) + " |"]


def _rest(name: str, total: Spread | None, own: Spread | None) -> list[str]:
    """Total less self: of the sums alone, as a difference of medians is the median of nothing."""
    if total is None or own is None or total.sum == own.sum:
        return []
    return [f"| {name} | | | | | {time_text(total.sum - own.sum)} |"]


def _notes(region: RegionMeasures) -> Iterator[str]:
    passages = f"{region.measured} of {count_text(region.occurrences, 'passage')} measured"
    if region.is_cold:
        passages += ", all of them cold: there were too few to warm up"
    if region.unfinished:
        passages += f"; {region.unfinished} had not ended when the recording did"
    yield passages
    if region.launches is not None:
        yield f"{count_text(region.launches.median, 'launch')} of GPU work a passage"
    if region.overhead_ns:
        yield f"{time_text(region.overhead_ns)} of the CPU times are the profiler's own work"


def _names_table(here: Sequence[Placed]) -> str:
    has_cuda = any(each.measured.region.cuda_total_ns is not None for each in here)
    heads = ["name", *(["CUDA total", "CUDA self"] if has_cuda else []), "CPU total", "CPU self", "measured"]
    lines = ["| " + " | ".join(heads) + " |", "|:--|" + "--:|" * (len(heads) - 1)]
    for each in here:
        region = each.measured.region
        times = [region.cuda_total_ns, region.cuda_self_ns] if has_cuda else []
        times += [region.cpu_total_ns, region.cpu_self_ns]
        cells = [time_text(spread.median) if spread else "" for spread in times]
        lines.append("| " + " | ".join([escaped(region.name), *cells, str(region.measured)]) + " |")
    return "\n".join(lines)


def _footer(placed: Placed) -> str:
    result = placed.measured.shown.result
    device = ""
    if result.device is not None:
        device = (f"{result.device.count} × " if result.device.count > 1 else "") + result.device.name
    facts = [device, f"torch {result.torch}" if result.torch else "", *_run_facts(result)]
    lines = [" · ".join(fact for fact in facts if fact)]
    if result.no_cuda_because is not None:
        lines.append(f"No CUDA times: {result.no_cuda_because}")
    return "  \n".join(line for line in lines if line)


def _run_facts(result: Result) -> list[str]:
    run = result.run
    if run is None:
        return [f"from {', '.join(escaped(trace.name) for trace in result.traces)}"]
    what = f"python -m {run.script}" if run.is_module else f"python {Path(run.script).name}"
    command = printable(" ".join([what, *run.arguments]))
    facts = [f"`{command.replace('`', chr(39))}`", f"{run.started.replace('T', ' ')[:19]} UTC"]
    if run.is_adopted:
        facts.append("measured by the script's own profiler")
    return facts


def escaped(text: str) -> str:
    """Text for Markdown: what would be markup or end a table's cell is taken literally."""
    return "".join(
        f"\\{character}" if character in "\\`*_{}[]<>()#+-!|~" else character for character in printable(text)
    )
