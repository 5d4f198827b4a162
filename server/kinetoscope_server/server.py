"""The server's state, and what keeps editor and state together: stored results, diagnostics, errors."""

import asyncio
import logging
import os
from collections.abc import Callable, Coroutine, Iterable
from functools import partial
from pathlib import Path
from typing import Any, Final, cast

from lsprotocol import types
from pygls.exceptions import JsonRpcException
from pygls.lsp.server import LanguageServer

from kinetoscope_core import __version__
from kinetoscope_core.errors import KinetoscopeError, Problem
from kinetoscope_core.results.store import Store
from kinetoscope_core.source.regions import Encoding
from kinetoscope_server.features.diagnostics import diagnostics, elsewhere
from kinetoscope_server.features.file_results import results_notice
from kinetoscope_server.protocol import methods
from kinetoscope_server.protocol.client import Client
from kinetoscope_server.protocol.garbage import Tidying
from kinetoscope_server.protocol.pygls_protocol import Protocol
from kinetoscope_server.results.archive import Archive
from kinetoscope_server.results.by_file import Board
from kinetoscope_server.results.changes import Changes
from kinetoscope_server.results.comparisons import Comparisons
from kinetoscope_server.results.problems import LineProblems, line_problems, stored_line_problems
from kinetoscope_server.results.run_list import RunList
from kinetoscope_server.results.shown import Shown
from kinetoscope_server.runs.again import Commands
from kinetoscope_server.runs.manager import ActiveRun, Runs
from kinetoscope_server.runs.standby import WarmInterpreter
from kinetoscope_server.settings.configuration import Configuration
from kinetoscope_server.text.documents import Document, Documents, path_of, uri_of

log = logging.getLogger(__name__)

PARENT_EVERY_S: Final = 2.0
RUNS_EVERY_S: Final = 2.0

PUBLISH_AFTER_S: Final = 0.2
"""After the last keystroke: a squiggle that comes and goes with each letter disturbs."""


def _is_alive(process_id: int) -> bool:
    if os.name == "nt":
        return True  # a signal there would end the process; the end of our input has to do
    try:
        os.kill(process_id, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        pass
    return True


class KinetoscopeServer(LanguageServer):
    """One editor's server. features/ say what it answers."""

    def __init__(self) -> None:
        super().__init__("kinetoscope", __version__, protocol_cls=Protocol)  # pyright: ignore[reportUnknownMemberType]
        self.speaking = cast("Protocol", self.protocol)
        self.client = Client(self)
        self.documents = Documents()
        self.board = Board()
        self.archive = Archive()
        self.commands = Commands()
        self.run_list = RunList(self.archive)
        self._runs_changed_ns = 0
        self._watches_runs = False
        self.changes = Changes()
        self.comparisons = Comparisons()
        self._comparing = asyncio.Lock()
        self.warm = WarmInterpreter(lambda notice: self.client.notify(methods.WARM, notice), self.client.log)
        self.runs = Runs(self.client, self.warm, self._phase_changed)
        self.configuration = Configuration(self.client, partial(self._say_once, types.MessageType.Warning))
        self.tidying = Tidying()
        self._problems: LineProblems = {}
        self.plain_again: list[object] = []
        """The arguments of `profilePlain` for the last run, if that failed in a prepared interpreter."""
        self._recalled: set[str] = set()
        self._recalling = asyncio.Lock()
        self._publishing: dict[str, asyncio.TimerHandle] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._said: set[str] = set()
        self._parent = 0
        self.on_orphaned: Callable[[], None] = lambda: None

    def root_of(self, path: str) -> Path | None:
        """The workspace's folder that holds the file, the innermost of several; else the first one, if there is any."""
        folders = [found for each in self.workspace.folders.values() if (found := path_of(each.uri)) is not None]
        holding = [folder for folder in folders if Path(path).is_relative_to(folder)]
        if holding:
            return Path(max(holding, key=len))
        first = self.workspace.root_path or (folders[0] if folders else None)
        return None if first is None else Path(first)

    @property
    def encoding(self) -> Encoding:
        """The unit of columns that was agreed on with the client."""
        encoding = self.workspace.position_encoding or types.PositionEncodingKind.Utf16
        return cast("Encoding", str(getattr(encoding, "value", encoding)))

    def watch_parent(self, process_id: int | None) -> None:
        """Ends us when the editor's process has gone, even if another one still holds our input open.

        Only a process that we see: an editor outside of our container counts in another way.
        """
        if process_id is not None and _is_alive(process_id):
            self._parent = process_id
            asyncio.get_running_loop().call_later(PARENT_EVERY_S, self._look_at_parent)

    def _look_at_parent(self) -> None:
        if not _is_alive(self._parent):
            log.warning("the editor's process %d has gone", self._parent)
            self.on_orphaned()
            return
        asyncio.get_running_loop().call_later(PARENT_EVERY_S, self._look_at_parent)

    def start(self, work: Coroutine[Any, Any, None]) -> None:
        """Does the work in the background; an error in it is reported as one of ours."""
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._finished)

    def _finished(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        error = None if task.cancelled() else task.exception()
        if error is not None:
            self.report_server_error(error, JsonRpcException)

    def stop(self) -> None:
        """Ends what is going on in the background; the run's worker ends with its input."""
        for task in list(self._tasks):
            task.cancel()
        self.runs.end()
        self.warm.drop()

    # --- results

    async def recall(self) -> None:
        """Takes in what the store has that is not known yet: runs of earlier days, and of the command."""
        async with self._recalling:
            new = await asyncio.to_thread(self._stored)
            for shown, problems in new:
                self._recalled.add(shown.run)
                self.board.add(shown)
                self.commands.recalled(shown)
                self._problems.update(problems)
        if new:
            self.show_again()

    def _stored(self) -> list[tuple[Shown, LineProblems]]:
        found: list[tuple[Shown, LineProblems]] = []
        for run in reversed(Store().runs()):
            if run.id not in self._recalled:
                try:
                    shown = Shown.of(cast("dict[str, Any]", run.result()), run.id)
                    found.append((shown, stored_line_problems(shown)))
                except KinetoscopeError as error:
                    self._recalled.add(run.id)
                    log.warning("the stored run %s is not shown: %s", run.id, error)
        return found

    def show(self, shown: Shown) -> None:
        """Shows the result of a run that has just ended, with its problems in place of the last run's."""
        self._recalled.add(shown.run)
        self.board.add(shown)
        self.runs_changed()
        self.show_problems(shown.result.problems)

    def show_chosen(self, files: Iterable[str]) -> None:
        """Shows files anew in which another result was chosen, with its problems."""
        for path in files:
            shown = self.board.shown(path)
            self._problems[path] = [] if shown is None else stored_line_problems(shown).get(path, [])
            if not self.documents.of_path(path):
                self.start(self._publish_elsewhere(path))
        self.show_again()

    def show_problems(self, problems: Iterable[Problem]) -> None:
        """Shows the problems of the last run; those of the one before it are gone."""
        before = set(self._problems)
        self._problems = line_problems(problems)
        for path in before | set(self._problems):
            if not self.documents.of_path(path):
                self.start(self._publish_elsewhere(path))
        self.show_again()

    async def compare(self) -> None:
        """Compares what open files show with its baseline, where that is not known; shows what came of it."""
        async with self._comparing:
            found = (self.board.shown(document.path) for document in self.documents)
            runs = {shown.run for shown in found if shown is not None and shown.result.run is not None}
            if runs:
                self.watch_runs()
            if await asyncio.to_thread(self.comparisons.update, runs):
                self.client.refresh()
                for document in self.documents:
                    self.send_results(document)

    def watch_runs(self) -> None:
        """Notices from now on when the list of runs changes: by whatever program."""
        if not self._watches_runs:
            self._watches_runs = True
            self._runs_changed_ns = Store().changed_ns()
            self._look_at_runs()

    def _look_at_runs(self) -> None:
        if Store().changed_ns() != self._runs_changed_ns:
            self.runs_changed()
        asyncio.get_running_loop().call_later(RUNS_EVERY_S, self._look_at_runs)

    def runs_changed(self) -> None:
        """A run came, went, or was pinned."""
        self._runs_changed_ns = Store().changed_ns()
        self.client.notify(methods.RUNS_CHANGED, {})
        self.start(self.compare())

    # --- showing

    def show_again(self) -> None:
        """Has everything of the open files shown anew."""
        self.client.refresh()
        for document in self.documents:
            self.publish(document)
            self.send_results(document)
        self.start(self.compare())
        self.tidying.soon()

    def publish_soon(self, document: Document) -> None:
        """Publishes diagnostics once the typing has paused."""
        self.tidying.put_off()
        waiting = self._publishing.pop(document.uri, None)
        if waiting is not None:
            waiting.cancel()
        loop = asyncio.get_running_loop()
        self._publishing[document.uri] = loop.call_later(PUBLISH_AFTER_S, self._publish_now, document.uri)

    def _publish_now(self, uri: str) -> None:
        self._publishing.pop(uri, None)
        document = self.documents.get(uri)
        if document is not None:
            self.publish(document)
            self.send_results(document)

    def publish(self, document: Document) -> None:
        """Has the diagnostics of an open file shown as its settings say."""
        self.start(self._publish(document))

    async def _publish(self, document: Document) -> None:
        settings = await self.configuration.of(document.uri)
        if self.documents.get(document.uri) is document:
            problems = self._problems.get(document.path, [])
            found = diagnostics(document, self.board.placed(document), problems, settings)
            self.client.publish(document.uri, document.version, found)

    async def _publish_elsewhere(self, path: str) -> None:
        """The diagnostics of a file that is not open."""
        settings = await self.configuration.of(uri_of(path))
        if not self.documents.of_path(path):
            self.client.publish(uri_of(path), None, elsewhere(path, self._problems.get(path, []), settings))

    def forget(self, document: Document) -> None:
        """The file was closed: its diagnostics go, but for those of the last run."""
        self.tidying.soon()
        self.board.closed(document)
        waiting = self._publishing.pop(document.uri, None)
        if waiting is not None:
            waiting.cancel()
        if document.uri != uri_of(document.path) or self.documents.of_path(document.path):
            self.client.publish(document.uri, None, [])
        if not self.documents.of_path(document.path):
            self.start(self._publish_elsewhere(document.path))

    def send_results(self, document: Document) -> None:
        if self.client.takes(methods.RESULTS):
            shown = self.board.shown(document.path)
            baseline = None if shown is None else self.comparisons.of(shown.run)
            self.client.notify(methods.RESULTS, results_notice(document, self.board.placed(document), baseline))

    def _phase_changed(self, active: ActiveRun) -> None:
        self.client.refresh(hints=False)
        is_on = self.runs.active is active
        notice = {"uri": active.job.uri, "title": active.job.title, "phase": active.phase if is_on else None}
        self.client.notify(methods.PROGRESS, notice)

    # --- errors

    def report_server_error(self, error: BaseException, source: object) -> None:
        """An error of ours: into the log, and shown once for each kind. The server lives on."""
        log.error("%s", source, exc_info=error)
        if isinstance(error, JsonRpcException) and error.code != types.ErrorCodes.InternalError:
            return  # the request was wrong or cannot be met, and its answer says so
        message = f"Kinetoscope had an internal error ({error}) and goes on. The log of the language server says more."
        self._say_once(types.MessageType.Error, message)

    def _say_once(self, kind: types.MessageType, message: str) -> None:
        if message not in self._said:
            self._said.add(message)
            self.client.tell(kind, message)
