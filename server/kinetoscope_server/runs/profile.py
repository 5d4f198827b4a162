"""From what a person wants profiled to what is shown: saving, whether to replace a run, the run, its end."""

import asyncio
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final, Literal

from lsprotocol import types

from kinetoscope_core.errors import NEVER_ENTERED, WRONG_ARGUMENTS, KinetoscopeError, Problem
from kinetoscope_core.output.measures_text import region_text, unmeasured_text
from kinetoscope_core.results.measures import Unmeasured
from kinetoscope_core.results.result import Result
from kinetoscope_core.text import count_text, printable
from kinetoscope_server.protocol import methods
from kinetoscope_server.results.shown import Shown, rows_to_show
from kinetoscope_server.runs.asking import command_for, known_command
from kinetoscope_server.runs.choices import role_on_disk, with_pytest
from kinetoscope_server.runs.command import Command, by_settings, check_texts
from kinetoscope_server.runs.manager import ActiveRun, Job
from kinetoscope_server.runs.targets import RUN_PLAIN, Choose, Target, command_text, request_of, title_of
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
class Offer:
    """What can be done at once about how a profile ended: it again with this command, or with one to be chosen."""

    title: str
    command: Mapping[str, Any] | None = None
    choose: Choose | None = None


@dataclass(frozen=True, slots=True)
class Finish:
    """How a profile ended. `message` is for people, `run` names the result in the store. With "none" nothing was done,
    and nothing is said: it was a double click, or a question was put aside.
    """

    how: How
    message: str
    run: str | None = None
    offers: tuple[Offer, ...] = ()


@dataclass(frozen=True, slots=True)
class _Ready:
    """What is known once the client has answered everything: what is replaced and unsaved, and what runs."""

    replaced: ActiveRun | None
    unsaved: Sequence[str]
    settings: Settings
    command: Command


_NONE: Final = Finish("none", "")
_KEPT: Final = Finish("refused", "The run that was going on was kept.")


async def profile(
    server: KinetoscopeServer,
    target: Target,
    *,
    token: int | str | None = None,
    replaces: bool = False,
    is_plain: bool = False,
) -> Finish:
    """Profiles, shows the result, and says how it went. When cancelled, so is the run."""
    if not replaces and server.runs.is_same_click(target):
        return _NONE
    with server.runs.asked_for(target) as asked:
        root = server.root_of(target.path)
        try:
            ready = await server.runs.prepared(asked, _ready(server, target, replaces=replaces, is_plain=is_plain))
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
        server.commands.begins(target.path, ready.command)
    return await server.runs.end_of(work)


async def _offer_plain(server: KinetoscopeServer, target: Target) -> None:
    """After a failure in a prepared interpreter: whether that was the cause is seen without one. The same is offered as
    a code action where the run failed, until the next one.
    """
    again = replace(target, arguments=None, command=None, choose=None)
    server.plain_again = [target.uri, *(target.place or (None, None)), None]
    name = printable(Path(target.path).name)
    if await server.client.ask(f"{name} failed in a prepared interpreter.", RUN_PLAIN) == RUN_PLAIN:
        await tell(server, await profile(server, again, is_plain=True), again)


async def make_ready(server: KinetoscopeServer, document: Document) -> None:
    """With `prepare: onOpen`, has the interpreter of a file with regions made ready, before anything of it has run."""
    settings = await server.configuration.of(document.uri)
    if settings.prepare != "onOpen" or not document.regions or server.runs.active is not None:
        return
    target, root = Target(document.uri, document.path), server.root_of(document.path)
    try:
        request = request_of(
            target, settings, root, known_command(server, target, by_settings(document.path, settings, root))
        )
    except KinetoscopeError:  # the click says it
        return
    server.warm.before(request)


async def _ready(server: KinetoscopeServer, target: Target, *, replaces: bool, is_plain: bool) -> _Ready | Finish:
    """Asks the client for the file's settings, what runs, whether to replace a run, and which files stay unsaved."""
    settings, root = await server.configuration.of(target.uri), server.root_of(target.path)
    said = by_settings(target.path, settings, root)
    command = await command_for(server, target, known_command(server, target, said, is_plain=is_plain), said)
    if command is None:
        return _NONE
    if not replaces and not await _may_replace(server):
        return _KEPT
    return _Ready(server.runs.active, await _unsaved(server), settings, command)


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


def _offers(server: KinetoscopeServer, problem: Problem, target: Target) -> tuple[Offer, ...]:
    """What can be done about a run that came to nothing."""
    if problem.code == WRONG_ARGUMENTS:
        return (Offer("Profile with arguments…", choose="arguments"),)
    if problem.code != NEVER_ENTERED:
        return ()
    server.commands.reached_nothing(target.path)
    choose = Offer("Choose script…", choose="script")
    if role_on_disk(target.path) != "tests":
        return (choose,)
    tests = with_pytest(target.path, target.region, Command(target.path))
    pytest = {"module": tests.script, "arguments": [*tests.arguments]}
    return (Offer("Run with pytest", pytest), choose)


async def tell(server: KinetoscopeServer, finish: Finish, target: Target | None = None) -> None:
    """The one message at the end. Where something can be done at once, it is a question; the answer is done."""
    if finish.how == "none":
        return
    # Arguments can only be typed where the client has a field for them.
    offers = [each for each in finish.offers if each.choose != "arguments" or server.client.takes(methods.CHOOSE)]
    if target is None or not offers:
        server.client.tell(_KINDS[finish.how], finish.message)
        return
    answer = await server.client.ask(finish.message, *(each.title for each in offers))
    for offer in offers:
        if offer.title == answer:
            again = replace(target, arguments=None, command=offer.command, choose=offer.choose)
            await tell(server, await profile(server, again), again)


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
        offers = () if target is None else _offers(server, problem, target)
        return Finish(_HOW.get(event["kind"], "failed"), printable(problem.message), offers=offers)
    run = event["run"] or server.archive.keep(event["result"])
    shown = Shown.of(event["result"], run)
    result = shown.result
    server.show(shown)
    if target is not None:
        server.commands.has_result(shown)
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
