"""What a region took on each rank of a job, in Markdown."""

from collections.abc import Iterator

from kinetoscope_core.output.ranks_text import most_telling, row_on, whose_numbers
from kinetoscope_core.results.measures import RegionMeasures
from kinetoscope_core.results.ranks import RankMeasures, RankRegion
from kinetoscope_core.results.result import Result
from kinetoscope_core.text import count_text, time_text
from kinetoscope_server.text.foreign import escaped


def text(result: Result, region: RegionMeasures) -> Iterator[str]:
    """A row for each rank, of many those that take the least and the longest; nothing where there is one."""
    found = [(rank, row) for rank in result.ranks if (row := row_on(rank, region)) is not None]
    if len(found) < 2:
        return
    has_cuda = any(row.cuda_total_ns is not None for _, row in found)
    communicates = any(row.communication is not None for _, row in found)
    heads = ["rank", *(["CUDA total"] if has_cuda else []), "CPU total"]
    heads += ["waiting", "transfer", "exposed"] if communicates else []
    lines = ["| " + " | ".join(heads) + " |", "|:--|" + "--:|" * (len(heads) - 1)]
    ranks, more = most_telling([rank for rank, _ in found], [_own_ns(row) for _, row in found])
    rows = {id(rank): row for rank, row in found}
    for rank in ranks:
        row = rows[id(rank)]
        cells = [_name(rank), *([_time(row.cuda_total_ns and row.cuda_total_ns.median)] if has_cuda else [])]
        cells += [time_text(row.cpu_total_ns.median), *(_communicated(row) if communicates else ())]
        lines.append("| " + " | ".join(cells) + " |")
    yield "\n".join(lines)
    rest = f"; {count_text(more, 'more rank')} between these" if more else ""
    yield f"*{whose_numbers(result)}. Per call: medians, and means of collectives{rest}.*"


def _own_ns(row: RankRegion) -> int:
    """What the rank itself takes, without waiting for others."""
    return max(row.cpu_active_ns.median, row.cuda_computing_ns or 0)


def _communicated(row: RankRegion) -> Iterator[str]:
    found = row.communication
    for ns in (found.waiting_ns, found.transfer_ns, found.exposed_ns) if found else (None,) * 3:
        yield _time(None if ns is None else ns // row.measured)


def _name(rank: RankMeasures) -> str:
    return f"{rank.rank} on {escaped(rank.host)}" if rank.host else str(rank.rank)


def _time(ns: int | None) -> str:
    return "" if ns is None else time_text(ns)
