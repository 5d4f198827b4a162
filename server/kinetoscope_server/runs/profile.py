"""From what a person wants profiled to what is shown: saving, whether to replace a run, the run, its end."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal

from lsprotocol import types

from kinetoscope_core.errors import KinetoscopeError, Problem
from kinetoscope_core.output.measures_text import region_text, unmeasured_text
from kinetoscope_core.results.measures import Unmeasured
from kinetoscope_core.results.result import Result
from kinetoscope_core.runner.request import RunRequest
from kinetoscope_core.text import count_text, printable
from kinetoscope_server.results.shown import Shown, rows_to_show
from kinetoscope_server.runs.manager import ActiveRun
from kinetoscope_server.runs.targets import RUN_PLAIN, Target, command_text, request_of
from kinetoscope_server.runs.worker import Event, problem_of
from kinetoscope_server.server import KinetoscopeServer
from kinetoscope_server.settings.settings import Settings
from kinetoscope_server.text.documents import Document

How = Literal["measured", "failed", "cancelled", "nothing", "refused"]

_REPLACE: Final = "Replace it"
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
    """How a profile ended. `message` is for people, `run` names the result in the store."""

    how: How
    message: str
    run: str | None = None


@dataclass(frozen=True, slots=True)
class _Job:
    """What goes to the worker, and for whom."""

    work: RunRequest
    target: Target
    token: int | str | None
    unsaved: Sequence[str]


KEPT: Final = Finish("refused", "The run that was going on was kept.")
"""A run went on, and the person did not want it ended."""


async def profile(
    server: KinetoscopeServer,
    target: Target,
    *,
    token: int | str | None = None,
    replace: bool = False,
    is_plain: bool = False,
) -> Finish:
    """Profiles, shows the result, and says how it went. When cancelled, so is the run."""
    prepared = await server.runs.prepared(_prepared(server, target, replace=replace))
    if prepared is None:
        return Finish("cancelled", f"{target.title} was cancelled before it started.")
    if isinstance(prepared, Finish):
        return prepared
    replaced, unsaved, settings = prepared
    try:
        request = request_of(target, settings, server.root_of(target.path), is_plain=is_plain)
    except KinetoscopeError as error:
        return Finish("failed", printable(str(error)))
    server.client.log(f"{target.title}: {command_text(request)}\n")
    return await _carry_out(server, _Job(request, target, token, unsaved), replaced)


async def _offer_plain(server: KinetoscopeServer, target: Target) -> None:
    """After a failure in a prepared interpreter: whether that was the cause is seen without one. The same is offered as
    a code action where the run failed, until the next one.
    """
    given = None if target.arguments is None else list(target.arguments)
    server.plain_again = [target.uri, *(target.place or (None, None)), given]
    name = printable(Path(target.path).name)
    if await server.client.ask(f"{name} failed in a prepared interpreter.", RUN_PLAIN) == RUN_PLAIN:
        tell(server, await profile(server, target, is_plain=True))


async def make_ready(server: KinetoscopeServer, document: Document) -> None:
    """With `prepare: onOpen`, has the interpreter of a file with regions made ready, before anything of it has run."""
    settings = await server.configuration.of(document.uri)
    if settings.prepare != "onOpen" or not document.regions or server.runs.active is not None:
        return
    try:
        request = request_of(Target(document.uri, document.path), settings, server.root_of(document.path))
    except KinetoscopeError:  # the click says it
        return
    server.warm.before(request)


async def _prepared(
    server: KinetoscopeServer, target: Target, *, replace: bool
) -> tuple[ActiveRun | None, Sequence[str], Settings] | Finish:
    """What only the client knows: whether to replace a run, which files stay unsaved, and the file's settings."""
    if not replace and not await may_replace(server):
        return KEPT
    return server.runs.active, await _unsaved(server), await server.configuration.of(target.uri)


def tell(server: KinetoscopeServer, finish: Finish) -> None:
    """The one message at the end."""
    server.client.tell(_KINDS[finish.how], finish.message)


async def may_replace(server: KinetoscopeServer) -> bool:
    """Whether nothing goes on, or the person wants it ended."""
    active = server.runs.active
    if active is None:
        return True
    question = f"{active.title} is still going on ({active.phase}). End it and start the new run?"
    return await server.client.ask(question, _REPLACE, _KEEP) == _REPLACE


async def _unsaved(server: KinetoscopeServer) -> list[str]:
    """The open files that run otherwise than they are shown, after the client was asked to save them."""

    def differing() -> list[str]:
        return [document.path for document in server.documents if not document.is_as_on_disk()]

    unsaved = differing()
    uris = [document.uri for path in unsaved for document in server.documents.of_path(path)]
    if unsaved and await server.client.save(uris):
        unsaved = differing()
    return unsaved


async def _carry_out(server: KinetoscopeServer, job: _Job, replaced: ActiveRun | None) -> Finish:
    target = job.target
    async with server.runs.beginning:
        if server.runs.active not in (None, replaced):
            return KEPT  # of two that were asked for at once, the first one runs
        await server.runs.replace()
        server.plain_again = []
        work = server.runs.begin(
            job.work,
            target.title,
            target.uri,
            target.place,
            job.token,
            lambda event: _finish(server, event, target, job.unsaved),
        )
    return await server.runs.end_of(work)


def _finish(server: KinetoscopeServer, event: Event, target: Target, unsaved: Sequence[str]) -> Finish:
    if event["event"] == "error":
        problem = problem_of(event)
        server.show_problems([problem])
        if event["kind"] == "RunError" and event.get("is_prepared"):
            server.start(_offer_plain(server, target))
        return Finish(_HOW.get(event["kind"], "failed"), printable(problem.message))
    shown = Shown.of(event["result"], event["run"])
    result = shown.result
    server.show(shown)
    endings: dict[str, How] = {"run-failed": "failed", "run-cancelled": "cancelled"}
    found: list[How] = [endings[problem.code] for problem in result.problems if problem.code in endings]
    how = found[0] if found else "measured"
    if how == "failed" and result.run is not None and result.run.is_prepared:
        server.start(_offer_plain(server, target))
    ran = {str(Path(region.file).resolve()) for region in rows_to_show(result) if region.file is not None}
    changed = [path for path in unsaved if path in ran or path == target.path]
    return Finish(how, _message(result, target, changed), shown.run)


def _message(result: Result, target: Target, changed: Sequence[str]) -> str:
    placed = [region for region in rows_to_show(result) if region.file is not None]
    shown = placed
    if target.region is not None:
        shown = [region for region in placed if target.region.matches(region.name)] or placed
    if len(shown) == 1:
        only = shown[0]
        times = unmeasured_text(only) if isinstance(only, Unmeasured) else region_text(only)
        text = f"{printable(only.name)}: {times}."
    else:
        measured = [region for region in shown if not isinstance(region, Unmeasured)]
        files = {region.file for region in measured}
        text = f"Measured {count_text(len(measured), 'region')} in {count_text(len(files), 'file')}."
    text += no_cuda_text(result)
    notes = [problem for problem in result.problems if problem.code != "region-not-reached"]
    failure = next((problem for problem in notes if problem.code == "run-failed"), None)
    if failure is not None:
        text = f"{failure.message} {text}"
    else:
        text += "".join(f" {problem.message}" for problem in notes[:1])
    text += more_notes_text(notes)
    if changed:
        names = ", ".join(Path(path).name for path in changed)
        text += f" Not saved: {names}. The version on disk ran."
    return text


def no_cuda_text(result: Result) -> str:
    """Why there are no CUDA times; empty where there are some."""
    return "" if result.no_cuda_because is None else f" No CUDA times: {result.no_cuda_because}."


def more_notes_text(notes: Sequence[Problem]) -> str:
    """That there are more notes than the first."""
    return f" {count_text(len(notes) - 1, 'more note')} in the log." if len(notes) > 1 else ""
