"""From what a person wants profiled to what is shown: saving, whether to replace a run, the run, its end."""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final, TypeVar

from lsprotocol import types

from kinetoscope_core.errors import NEVER_ENTERED, NO_REGION, WRONG_ARGUMENTS, KinetoscopeError
from kinetoscope_core.runner.request import ModuleChoice
from kinetoscope_core.text import printable
from kinetoscope_server.protocol import methods
from kinetoscope_server.results.shown import Shown, rows_to_show
from kinetoscope_server.runs.asking import command_for, known_command
from kinetoscope_server.runs.choices import role_on_disk, with_pytest
from kinetoscope_server.runs.command import Command, by_settings
from kinetoscope_server.runs.finish import KEPT, NONE, Finish, How, Offer, change_text, message_of
from kinetoscope_server.runs.manager import ActiveRun, Job
from kinetoscope_server.runs.progress import SeriesProgress
from kinetoscope_server.runs.sweep import sweep_ended, sweep_of
from kinetoscope_server.runs.targets import PROFILE_MODULES, RUN_PLAIN, Target, command_text, request_of, title_of
from kinetoscope_server.runs.worker import Event, problem_of
from kinetoscope_server.server import KinetoscopeServer
from kinetoscope_server.settings.settings import Settings
from kinetoscope_server.text.documents import Document

T = TypeVar("T")

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
class _Ready:
    """What is known once the client has answered everything: what is replaced and unsaved, and what runs."""

    replaced: ActiveRun | None
    unsaved: Sequence[str]
    settings: Settings
    command: Command


async def profile(
    server: KinetoscopeServer,
    target: Target,
    *,
    token: int | str | None = None,
    replaces: bool = False,
    is_plain: bool = False,
    series: SeriesProgress | None = None,
) -> Finish:
    """Profiles, shows the result, and says how it went. When cancelled, so is the run. Of a series, the later runs ask
    nothing, and those that are not plain begin in a prepared interpreter.
    """
    if not replaces and server.runs.is_same_click(target):
        return NONE
    with server.runs.asked_for(target) as asked:
        root = server.root_of(target.path)
        try:
            ready = await server.runs.prepared(
                asked, _ready(server, target, series, replaces=replaces, is_plain=is_plain)
            )
            if ready is None:
                before = f"Profiling {target.name} was cancelled before it started."
                return NONE if asked.gave_way else Finish("cancelled", before)
            if isinstance(ready, Finish):
                return ready
            request = request_of(target, ready.settings, root, ready.command, is_plain=is_plain)
            request = request._replace(waits_until_prepared=series is not None and not is_plain)
            work = sweep_of(target, request) if target.vary else request
        except KinetoscopeError as error:
            return Finish("failed", printable(str(error)))
        server.client.log(f"Profiling {target.name}: {command_text(request)}\n")
        title = title_of(target, ready.command, root)
        going_on = f"{target.name} is already being profiled"
        job = Job(work, title, going_on, target, target.uri, target.place, token, series)
        if request.waits_until_prepared:
            server.warm.prepare_now(request)
        end = await begun(server, job, ready.replaced, lambda event: _finish(server, event, target, ready))
        if isinstance(end, Finish):
            return end
        server.commands.begins(target.path, ready.command)
    finish = await server.runs.end_of(end)
    if finish.run is None or finish.how != "measured":
        return finish
    await server.compare()
    return replace(finish, message=change_text(server.comparisons.of(finish.run), target) + finish.message)


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


async def _ready(
    server: KinetoscopeServer, target: Target, series: SeriesProgress | None, *, replaces: bool, is_plain: bool
) -> _Ready | Finish:
    """Asks the client for the file's settings, what runs, whether to replace a run, and which files stay unsaved."""
    settings, root = await server.configuration.of(target.uri), server.root_of(target.path)
    said = by_settings(target.path, settings, root)
    is_again = is_plain and series is None
    command = await command_for(server, target, known_command(server, target, said, is_plain=is_again), said)
    if command is None:
        return NONE
    if series is not None and series.begun:
        return KEPT if server.runs.active else _Ready(None, _differing(server), settings, command)
    if not replaces and not await may_replace(server):
        return KEPT
    return _Ready(server.runs.active, await _unsaved(server), settings, command)


def _offers(server: KinetoscopeServer, event: Event, target: Target, command: Command) -> tuple[Offer, ...]:
    """What can be done about a run of this command that came to nothing."""
    problem = problem_of(event)
    if event["kind"] == "InterpreterError" or problem.evidence.get("missing") == "torch":
        return (Offer("Choose Interpreter…", command.as_values(), "interpreter"),)
    if problem.code == WRONG_ARGUMENTS:
        return (Offer("Profile with arguments…", choose="arguments"),)
    if problem.code == NO_REGION:
        return (_with_modules(command),)
    if problem.code != NEVER_ENTERED:
        return ()
    server.commands.reached_nothing(target.path)
    choose = Offer("Choose script…", choose="script")
    if role_on_disk(target.path) != "tests":
        return (choose,)
    tests = with_pytest(target.path, target.region, Command(target.path))
    pytest = {"module": tests.script, "arguments": [*tests.arguments]}
    return (Offer("Run with pytest", pytest), choose)


def _with_modules(command: Command) -> Offer:
    return Offer(PROFILE_MODULES, replace(command, modules=ModuleChoice()).as_values())


async def tell(server: KinetoscopeServer, finish: Finish, target: Target | None = None) -> None:
    """The one message at the end. Where something can be done at once, it is a question; the answer is done."""
    if finish.how == "none":
        return
    # Arguments can only be typed where the client has a field for them.
    offers = [each for each in finish.offers if each.choose != "arguments" or server.client.takes(methods.CHOOSE)]
    if target is None or not offers:
        server.client.tell(_KINDS[finish.how], finish.message)
        return
    answer = await server.client.ask(finish.message, *(each.title for each in offers), kind=_KINDS[finish.how])
    for offer in offers:
        if offer.title == answer:
            again = replace(target, arguments=None, command=offer.command, choose=offer.choose)
            await tell(server, await profile(server, again, is_plain=offer.plain), again)


async def may_replace(server: KinetoscopeServer) -> bool:
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
    unsaved = _differing(server)
    uris = [document.uri for path in unsaved for document in server.documents.of_path(path)]
    if unsaved and await server.client.save(uris):
        unsaved = _differing(server)
    return unsaved


def _differing(server: KinetoscopeServer) -> list[str]:
    return [document.path for document in server.documents if not document.is_as_on_disk()]


async def begun(
    server: KinetoscopeServer, job: Job, replaced: ActiveRun | None, finish: Callable[[Event], T]
) -> asyncio.Future[T] | Finish:
    """The job, once it has begun; or that another one was asked for before it."""
    async with server.runs.beginning:
        if server.runs.active not in (None, replaced):
            return KEPT  # of two that were asked for at once, the first one runs
        await server.runs.replace()
        server.plain_again = []
        return server.runs.begin(job, finish)


def _finish(server: KinetoscopeServer, event: Event, target: Target, ready: _Ready) -> Finish:
    if event["event"] == "error":
        problem = problem_of(event)
        server.show_problems([problem])
        how = _HOW.get(event["kind"], "failed")
        finish = Finish(how, printable(problem.message), offers=_offers(server, event, target, ready.command))
        is_prepared = event["kind"] == "RunError" and event.get("is_prepared") is True
        return _with_plain(server, finish, target) if is_prepared else finish
    if "sweep" in event:
        return sweep_ended(server, event)
    shown = Shown.of(event["result"], event["run"])
    result = shown.result
    server.show(shown)
    server.commands.has_result(shown)
    endings: dict[str, How] = {"run-failed": "failed", "run-cancelled": "cancelled"}
    found: list[How] = [endings[problem.code] for problem in result.problems if problem.code in endings]
    how = found[0] if found else "measured"
    ran = {str(Path(region.file).resolve()) for region in rows_to_show(result) if region.file is not None}
    changed = [path for path in ready.unsaved if path in ran or path == target.path]
    has_no_region = result.contents is not None and ready.command.modules is None
    offers = (_with_modules(ready.command),) if has_no_region else ()
    finish = Finish(how, message_of(result, target, changed), shown.run, offers)
    is_prepared = result.run is not None and result.run.is_prepared
    return _with_plain(server, finish, target) if how == "failed" and is_prepared else finish


def _with_plain(server: KinetoscopeServer, finish: Finish, target: Target) -> Finish:
    """A failure in a prepared interpreter: whether that was the cause is seen without one. The same is offered as a
    code action where the run failed, until the next one.
    """
    server.plain_again = [target.uri, *(target.place or (None, None)), None]
    message = f"{finish.message} It began in a prepared interpreter."
    return replace(finish, message=message, offers=(*finish.offers, Offer(RUN_PLAIN, plain=True)))
