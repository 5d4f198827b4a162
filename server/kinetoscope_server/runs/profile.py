"""From what a person wants profiled to what is shown: saving, whether to replace a run, the run, its end."""

import asyncio
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal

from lsprotocol import types

from kinetoscope_core.errors import KinetoscopeError
from kinetoscope_core.output.measures_text import region_text, unmeasured_text
from kinetoscope_core.results.measures import Unmeasured
from kinetoscope_core.results.result import Result
from kinetoscope_core.source.regions import Region
from kinetoscope_core.text import count_text, printable
from kinetoscope_server.results.by_file import Shown, rows_to_show
from kinetoscope_server.runs.again import gave_the_times
from kinetoscope_server.runs.command import Command, by_settings, check_texts, from_values
from kinetoscope_server.runs.manager import ActiveRun, Job
from kinetoscope_server.runs.targets import RUN_PLAIN, Target, command_text, request_of, title_of
from kinetoscope_server.runs.worker import Event, TraceFiles, problem_of
from kinetoscope_server.server import KinetoscopeServer
from kinetoscope_server.settings.settings import Settings
from kinetoscope_server.text.documents import Document, path_of

How = Literal["measured", "failed", "cancelled", "nothing", "refused", "none"]

_REPLACE: Final = "Stop and start"
_KEEP: Final = "Keep it"

_HOW: Final[dict[str, How]] = {"RunCancelled": "cancelled", "NothingMeasured": "nothing"}
_KINDS: Final = {
    "measured": types.MessageType.Info,
    "cancelled": types.MessageType.Info,
    "nothing": types.MessageType.Warning,
    "refused": types.MessageType.Warning,
    "failed": types.MessageType.Error,
}


@dataclass(frozen=True, slots=True)
class Finish:
    """How a profile ended. `message` is for people, `run` names the result in the store. With "none" nothing was done,
    and nothing is said: it was a double click, or a question was put aside.
    """

    how: How
    message: str
    run: str | None = None


@dataclass(frozen=True, slots=True)
class _Ready:
    """What is known once the client has answered everything: what is replaced and unsaved, and what runs."""

    replaced: ActiveRun | None
    unsaved: Sequence[str]
    settings: Settings
    said: Command
    command: Command


_NONE: Final = Finish("none", "")
_KEPT: Final = Finish("refused", "The run that was going on was kept.")


async def profile(
    server: KinetoscopeServer,
    target: Target,
    *,
    token: int | str | None = None,
    replace: bool = False,
    is_plain: bool = False,
) -> Finish:
    """Profiles, shows the result, and says how it went. When cancelled, so is the run."""
    if not replace and server.runs.is_same_click(target):
        return _NONE
    with server.runs.asked_for(target) as asked:
        root = server.root_of(target.path)
        try:
            ready = await server.runs.prepared(asked, _ready(server, target, replace=replace, is_plain=is_plain))
            if ready is None:
                before = f"Profiling {target.name} was cancelled before it started."
                return _NONE if asked.gave_way else Finish("cancelled", before)
            if isinstance(ready, Finish):
                return ready
            request = request_of(target, ready.settings, root, ready.command, is_plain=is_plain)
        except KinetoscopeError as error:
            return Finish("failed", printable(str(error)))
        server.client.log(f"Profiling {target.name}: {command_text(request)}\n")
        title = title_of(target, ready.command, root)
        going_on = f"{target.name} is already being profiled"
        job = Job(request, title, going_on, target, target.uri, target.place, token)
        work = await _begun(server, job, ready.replaced, target, ready.unsaved)
        if isinstance(work, Finish):
            return work
        server.commands.begins(target.path, ready.command, ready.said)
    return await server.runs.end_of(work)


def command_at(server: KinetoscopeServer, target: Target, said: Command, *, is_plain: bool = False) -> Command:
    """What a click on the target runs, where the settings say `said`."""
    document = server.documents.get(target.uri)
    shown = None if document is None else gave_the_times(server.board.placed(document), target.region)
    return server.commands.again(target.path, shown, said, prefers_last=is_plain)


def command_teller(server: KinetoscopeServer, document: Document, settings: Settings) -> Callable[[Region | None], str]:
    """What says, for people, what a click on a region of the file runs, or on none."""
    root, placed = server.root_of(document.path), server.board.placed(document)
    texts: dict[Shown | None, str] = {}

    def told(region: Region | None) -> str:
        shown = gave_the_times(placed, region)
        if shown not in texts:
            command = server.commands.again(document.path, shown, said)
            texts[shown] = f"python {command.text(root)}"
        return texts[shown]

    try:
        said = by_settings(document.path, settings, root)
    except KinetoscopeError as error:  # the click says it, too
        why = printable(str(error))
        return lambda _region: why
    return told


async def _offer_plain(server: KinetoscopeServer, target: Target) -> None:
    """After a failure in a prepared interpreter: whether that was the cause is seen without one. The same is offered as
    a code action where the run failed, until the next one.
    """
    again = Target(target.uri, target.path, target.region)
    server.plain_again = [target.uri, *(target.place or (None, None)), None]
    name = printable(Path(target.path).name)
    if await server.client.ask(f"{name} failed in a prepared interpreter.", RUN_PLAIN) == RUN_PLAIN:
        tell(server, await profile(server, again, is_plain=True))


async def make_ready(server: KinetoscopeServer, document: Document) -> None:
    """With `prepare: onOpen`, has the interpreter of a file with regions made ready, before anything of it has run."""
    settings = await server.configuration.of(document.uri)
    if settings.prepare != "onOpen" or not document.regions or server.runs.active is not None:
        return
    target, root = Target(document.uri, document.path), server.root_of(document.path)
    try:
        command = command_at(server, target, by_settings(document.path, settings, root))
        request = request_of(target, settings, root, command)
    except KinetoscopeError:  # the click says it
        return
    server.warm.before(request)


async def _ready(server: KinetoscopeServer, target: Target, *, replace: bool, is_plain: bool) -> _Ready | Finish:
    """Asks the client for the file's settings, what runs, whether to replace a run, and which files stay unsaved."""
    settings, root = await server.configuration.of(target.uri), server.root_of(target.path)
    said = by_settings(target.path, settings, root)
    command = command_at(server, target, said, is_plain=is_plain)
    if target.arguments is not None:
        command = from_values({"arguments": [*target.arguments]}, command, target.path, root)
    if not replace and not await _may_replace(server):
        return _KEPT
    return _Ready(server.runs.active, await _unsaved(server), settings, said, command)


async def load(server: KinetoscopeServer, traces: Sequence[str], sources: Sequence[str]) -> Finish:
    """Shows traces from elsewhere at the regions of the source files; without any, of the open ones."""
    if not await _may_replace(server):
        return _KEPT
    replaced = server.runs.active
    files = [path_of(source) or source for source in sources] or [document.path for document in server.documents]
    paths = [path_of(trace) or trace for trace in traces]
    missing = [path for path in [*paths, *files] if not os.path.isfile(path)]  # noqa: ASYNC240, PTH113 - one stat
    if missing:
        return Finish("failed", f"There is no file {printable(missing[0])}.")
    try:
        check_texts("A trace or source", [*paths, *files])
    except KinetoscopeError as error:
        return Finish("failed", printable(str(error)))
    names = printable(", ".join(Path(path).name for path in paths))
    work = await _begun(server, Job(TraceFiles(paths, files), f"Reading {names}", f"{names} is being read"), replaced)
    return work if isinstance(work, Finish) else await server.runs.end_of(work)


def tell(server: KinetoscopeServer, finish: Finish) -> None:
    """The one message at the end."""
    if finish.how == "none":
        return
    server.client.tell(_KINDS[finish.how], finish.message)


async def _may_replace(server: KinetoscopeServer) -> bool:
    """Whether nothing goes on, or the person wants ended what does."""
    while (active := server.runs.active) is not None:
        question = f"{active.job.going_on}. Stop it and start again?"
        if await server.client.ask(question, _REPLACE, _KEEP) != _REPLACE:
            return False
        if server.runs.active is active:
            break
    return True


async def _unsaved(server: KinetoscopeServer) -> list[str]:
    """The open files that run otherwise than they are shown, after the client was asked to save them."""

    def differing() -> list[str]:
        return [document.path for document in server.documents if not document.is_as_on_disk()]

    unsaved = differing()
    uris = [document.uri for path in unsaved for document in server.documents.of_path(path)]
    if unsaved and await server.client.save(uris):
        unsaved = differing()
    return unsaved


async def _begun(
    server: KinetoscopeServer,
    job: Job,
    replaced: ActiveRun | None,
    target: Target | None = None,
    unsaved: Sequence[str] = (),
) -> asyncio.Future[Finish] | Finish:
    """The job, once it has begun; or that another one was asked for before it."""
    async with server.runs.beginning:
        if server.runs.active not in (None, replaced):
            return _KEPT  # of two that were asked for at once, the first one runs
        await server.runs.replace()
        server.plain_again = []
        return server.runs.begin(job, lambda event: _finish(server, event, target, unsaved))


def _finish(server: KinetoscopeServer, event: Event, target: Target | None, unsaved: Sequence[str]) -> Finish:
    if event["event"] == "error":
        problem = problem_of(event)
        server.show_problems([problem])
        if target is not None and event["kind"] == "RunError" and event.get("is_prepared"):
            server.start(_offer_plain(server, target))
        return Finish(_HOW.get(event["kind"], "failed"), printable(problem.message))
    run = event["run"] or server.archive.keep(event["result"])
    shown = Shown.of(event["result"], run)
    result = shown.result
    server.show(shown)
    if target is not None:
        server.commands.has_result(target.path, shown)
    endings: dict[str, How] = {"run-failed": "failed", "run-cancelled": "cancelled"}
    found: list[How] = [endings[problem.code] for problem in result.problems if problem.code in endings]
    how = found[0] if found else "measured"
    if target is not None and how == "failed" and result.run is not None and result.run.is_prepared:
        server.start(_offer_plain(server, target))
    ran = {str(Path(region.file).resolve()) for region in rows_to_show(result) if region.file is not None}
    changed = [path for path in unsaved if path in ran or (target is not None and path == target.path)]
    return Finish(how, _message(result, target, changed), run)


def _message(result: Result, target: Target | None, changed: Sequence[str]) -> str:
    placed = [region for region in rows_to_show(result) if region.file is not None]
    shown = placed
    if target is not None and target.region is not None:
        shown = [region for region in placed if target.region.matches(region.name)] or placed
    if len(shown) == 1:
        only = shown[0]
        times = unmeasured_text(only) if isinstance(only, Unmeasured) else region_text(only)
        text = f"{printable(only.name)}: {times}."
    else:
        measured = [region for region in shown if not isinstance(region, Unmeasured)]
        files = {region.file for region in measured}
        text = f"Measured {count_text(len(measured), 'region')} in {count_text(len(files), 'file')}."
    if result.no_cuda_because is not None:
        text += f" No CUDA times: {result.no_cuda_because}."
    notes = [problem for problem in result.problems if problem.code != "region-not-reached"]
    failure = next((problem for problem in notes if problem.code == "run-failed"), None)
    if failure is not None:
        text = f"{failure.message} {text}"
    else:
        text += "".join(f" {problem.message}" for problem in notes[:1])
    if len(notes) > 1:
        text += f" {count_text(len(notes) - 1, 'more note')} in the log."
    if changed:
        names = ", ".join(Path(path).name for path in changed)
        text += f" Not saved: {names}. The version on disk ran."
    return text
