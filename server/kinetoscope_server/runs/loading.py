"""Traces from elsewhere: which files they belong to, and what is said of them."""

import asyncio
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from kinetoscope_core.errors import KinetoscopeError
from kinetoscope_core.output.measures_text import contents_text
from kinetoscope_core.output.ranks_text import whose_numbers
from kinetoscope_core.results.of_torch import is_of_torch
from kinetoscope_core.results.result import Result
from kinetoscope_core.source.regions.which_region import RegionsByName
from kinetoscope_core.source.snapshot import Sources
from kinetoscope_core.text import count_text, printable, shortlist
from kinetoscope_core.wording import WHAT_TO_ADD
from kinetoscope_server.results.shown import Row, Shown, rows_to_show
from kinetoscope_server.runs.command import check_texts
from kinetoscope_server.runs.finish import KEPT, Finish, more_notes_text, no_cuda_text
from kinetoscope_server.runs.manager import Job
from kinetoscope_server.runs.profile import begun, may_replace
from kinetoscope_server.runs.worker import Event, TraceFiles, problem_of
from kinetoscope_server.server import KinetoscopeServer
from kinetoscope_server.text.documents import path_of, uri_of
from kinetoscope_server.text.workspace import with_regions


@dataclass(frozen=True, slots=True)
class Loaded(Finish):
    """`files` are the URIs of the source files in which regions of the traces were found."""

    files: tuple[str, ...] = ()


async def load(
    server: KinetoscopeServer, traces: Sequence[str], sources: Sequence[str], token: int | str | None = None
) -> Finish:
    """Shows traces at the regions of the source files; without any, of the open ones, and if they have none of them, of
    those of the workspace. Asks which one where two of them have as many of the traces' names.
    """
    paths = [path_of(trace) or trace for trace in traces]
    files = [path_of(source) or source for source in sources]
    files = files or [document.path for document in server.documents if document.regions]
    is_searched = bool(sources)
    missing = [path for path in [*paths, *files] if not os.path.isfile(path)]  # noqa: ASYNC240, PTH113 - one stat
    if missing:
        return Finish("failed", f"There is no file {printable(missing[0])}.")
    try:
        check_texts("A trace or source", [*paths, *files])
    except KinetoscopeError as error:
        return Finish("failed", printable(str(error)))
    event = await _read(server, paths, files, token)
    while not isinstance(event, Finish) and event["event"] == "result":
        own = _own(Shown.of(event["result"], "").result)
        lost = [row.name for row in own if row.file is None]
        rivals = await asyncio.to_thread(_rivals, lost, files)
        chosen = await _chosen(server, rivals)
        if chosen is not None:
            files = [file for file in files if file == chosen or file not in rivals]
        elif own and len(lost) == len(own) and not rivals and not is_searched:
            is_searched = True
            root = server.root_of(paths[0])
            files = [] if root is None else await asyncio.to_thread(with_regions, root)
        else:
            return _show(server, event, are_sources_given=bool(sources))
        if files:
            event = await _read(server, paths, files, token)
    if isinstance(event, Finish):
        return event
    problem = problem_of(event)
    server.show_problems([problem])
    return Finish("cancelled" if event["kind"] == "RunCancelled" else "failed", printable(problem.message))


async def _read(
    server: KinetoscopeServer, paths: Sequence[str], files: Sequence[str], token: int | str | None
) -> Event | Finish:
    if not await may_replace(server):
        return KEPT
    names = _names(paths)
    job = Job(TraceFiles(paths, files), f"Reading {names}", f"{names} is being read", token=token)
    work = await begun(server, job, server.runs.active, lambda event: event)
    return work if isinstance(work, Finish) else await server.runs.end_of(work)


def _own(result: Result) -> list[Row]:
    """The regions that torch did not make."""
    return [row for row in rows_to_show(result) if not is_of_torch(row.name, row.file)]


def _rivals(lost: Sequence[str], files: Iterable[str]) -> Mapping[str, Sequence[str]]:
    """The names that were not placed since several files have them, by file."""
    sources = Sources()
    regions = {file: RegionsByName(sources.regions_of(file)) for file in (files if lost else ())}
    named = {
        file: [name for name in lost if by_name.exactly(name) or by_name.by_pattern(name)]
        for file, by_name in regions.items()
    }
    shared = {name for name in lost if sum(name in names for names in named.values()) > 1}
    return {file: names for file, names in named.items() if shared.intersection(names)}


async def _chosen(server: KinetoscopeServer, rivals: Mapping[str, Sequence[str]]) -> str | None:
    """The file that a person says was traced; None where that is no question, or was not answered."""
    if not rivals:
        return None
    root = server.root_of(next(iter(rivals)))
    answers = {_short(file, root): file for file in rivals}
    names = shortlist(list(dict.fromkeys(name for named in rivals.values() for name in named)))
    question = f"Several files have regions of these names: {names}. Which one was traced?"
    return answers.get(await server.client.ask(question, *answers) or "")


def _short(file: str, root: Path | None) -> str:
    path = Path(file)
    return printable(str(path.relative_to(root)) if root is not None and path.is_relative_to(root) else file)


def _show(server: KinetoscopeServer, event: Event, *, are_sources_given: bool) -> Loaded:
    for run in server.archive.replaced_by(event["result"]):
        server.archive.loaded.pop(run)
        server.board.drop(run)
    shown = Shown.of(event["result"], server.archive.keep(event["result"]))
    server.show(shown)
    result = shown.result
    files = dict.fromkeys(row.file for row in _own(result) if row.file is not None)
    where = "the source file" if are_sources_given else "any file here"
    what = whose_numbers(result).replace("; ", " (", 1) + ")" if len(result.ranks) > 1 else _names(result.traces)
    message = f"Loaded {what}: {_found(result, list(files), where)}"
    notes = result.problems
    message += no_cuda_text(result) + "".join(f" {note.message}" for note in notes[:1]) + more_notes_text(notes)
    return Loaded("measured", message, shown.run, files=tuple(uri_of(file) for file in files))


def _found(result: Result, files: Sequence[str], where: str) -> str:
    own = _own(result)
    if not own:
        held = "" if result.contents is None else f" {contents_text(result.contents)}"
        return f"it has no record_function region.{held} {WHAT_TO_ADD}"
    if not files:
        return f"its {count_text(len(own), 'region')} {'is' if len(own) == 1 else 'are'} not in {where}."
    placed = sum(row.file is not None for row in own)
    return f"{placed} of {count_text(len(own), 'region')} found in {_names(files)}."


def _names(paths: Iterable[str | Path]) -> str:
    return printable(", ".join(Path(path).name for path in paths))
