"""The one run that is going on: its worker, its phase, its end. What is run, and what becomes of it, is for others."""

import asyncio
import logging
import time
from collections.abc import Callable, Coroutine, Generator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Final, TypeVar

from kinetoscope_core.runner.request import RunRequest
from kinetoscope_server.protocol.client import Client
from kinetoscope_server.runs.progress import RunProgress, SeriesProgress, phase_text
from kinetoscope_server.runs.standby import WarmInterpreter
from kinetoscope_server.runs.worker import Event, SweepWork, TraceFiles, WorkerProcess, error_event

log = logging.getLogger(__name__)

T = TypeVar("T")

_SECONDS_BETWEEN_REPORTS: Final = 0.25

SAME_CLICK_S: Final = 1.0
"""A second click on the same within this time is the same click; systems take 0.5 s for the longest double click."""


@dataclass(frozen=True, slots=True)
class Job:
    """What is to be done, and how it is called: `title` while it is shown, `going_on` in a question. `what` was asked
    for, in the file `uri`; `region` is the row (from 0) and the name of the region that is measured alone. `token` is
    that of the progress, if the client has given one; a job of a series has the progress of that.
    """

    work: RunRequest | SweepWork | TraceFiles
    title: str
    going_on: str
    what: object = None
    uri: str = ""
    region: tuple[int, str] | None = None
    token: int | str | None = None
    series: SeriesProgress | None = None


@dataclass(slots=True)
class ActiveRun:
    """A job that is going on."""

    job: Job
    worker: WorkerProcess
    progress: RunProgress
    phase: str = "starting"
    is_cancelled: bool = False
    began_s: float = field(default_factory=time.monotonic)
    cancelled: asyncio.Event = field(default_factory=asyncio.Event)
    ended: asyncio.Event = field(default_factory=asyncio.Event)


@dataclass(slots=True, eq=False)
class Asked:
    """A run that was asked for and has not begun. `question` waits for what only the client knows."""

    what: object
    since_s: float = field(default_factory=time.monotonic)
    question: asyncio.Task[Any] | None = None
    gave_way: bool = False


@dataclass(slots=True)
class CleanUp:
    """A script whose run is over and shown, and which does what its `finally` blocks and exit functions say."""

    title: str
    worker: WorkerProcess
    progress: RunProgress
    showing: asyncio.Future[None] | None = None


class Runs:
    """At most one run at a time. `on_phase` is called when its phase has changed."""

    def __init__(self, client: Client, warm: WarmInterpreter, on_phase: Callable[[ActiveRun], None]) -> None:
        self._client = client
        self._on_phase = on_phase
        self._last_report_s = 0.0
        self.active: ActiveRun | None = None
        self._clean_ups: list[CleanUp] = []
        self.warm = warm
        self._asked: list[Asked] = []
        self.series: list[SeriesProgress] = []
        self.beginning = asyncio.Lock()
        """Held from seeing that nothing is active until something is."""

    def begin(self, job: Job, finish: Callable[[Event], T]) -> asyncio.Future[T]:
        """Begins a job, whose result is what `finish` makes of its last event. Nothing may be active."""
        work = job.work
        if isinstance(work, SweepWork):
            self.warm.drop()  # a second process on the GPU makes small kernels slower
        worker = (self.warm.worker_for(work) if isinstance(work, RunRequest) else None) or WorkerProcess()
        active = self.active = ActiveRun(job, worker, job.series or RunProgress(self._client, job.token))

        def note(event: Event) -> None:
            self._note(active, event)

        worker.on_event = note
        return asyncio.ensure_future(self._work(active, finish))

    async def end_of(self, work: asyncio.Future[T]) -> T:
        """The result of a run. When who waits is cancelled, so is the run; what it measured is shown all the same."""
        try:
            return await asyncio.shield(work)
        except asyncio.CancelledError:
            self.cancel()
            raise

    async def _work(self, active: ActiveRun, finish: Callable[[Event], T]) -> T:
        end = "failed"
        began = time.monotonic()
        log.info("%s begins", active.job.title)
        try:
            event, _ = await asyncio.gather(self._result(active), self._announce(active))
            end = "cancelled" if active.is_cancelled else "done" if event["event"] == "result" else "failed"
        finally:
            log.info("%s is %s after %.3f s", active.job.title, end, time.monotonic() - began)
            self.active = None
            active.ended.set()
            active.progress.end(end)
            self._on_phase(active)
        if event.get("is_leaving"):
            self._see_off(active)
        if isinstance(active.job.work, RunRequest):
            self.warm.after(active.job.work, event)
        return finish(event)

    async def _result(self, active: ActiveRun) -> Event:
        """Of the worker, once no script of an earlier run is at its clean-up: the GPU is that one's as long."""
        if isinstance(active.job.work, TraceFiles):
            return await active.worker.read(active.job.work)
        while self._clean_ups:
            self._say(active, "waiting for the last run's own clean-up")
            ended = asyncio.ensure_future(self._clean_ups[0].worker.ended.wait())
            cancelled = asyncio.ensure_future(active.cancelled.wait())
            await asyncio.wait([ended, cancelled], return_when=asyncio.FIRST_COMPLETED)
            for each in (ended, cancelled):
                each.cancel()
            if active.is_cancelled:
                active.worker.end()
                return error_event("RunCancelled", "It was cancelled.")
            await asyncio.sleep(0)
        if isinstance(active.job.work, SweepWork):
            return await active.worker.sweep(active.job.work)
        return await active.worker.profile(active.job.work)

    def _see_off(self, active: ActiveRun) -> None:
        """Shows that a script, measured by now, is still at its own clean-up, until it has ended or is ended."""
        worker = active.worker
        if worker.ended.is_set() or any(each.worker is worker for each in self._clean_ups):
            return
        clean_up = CleanUp(active.job.title, worker, RunProgress(self._client, None))
        self._clean_ups.append(clean_up)
        clean_up.showing = asyncio.ensure_future(self._shown(clean_up))

    async def _shown(self, clean_up: CleanUp) -> None:
        await clean_up.progress.begin(f"{clean_up.title}: the script has been measured and does its own clean-up")
        clean_up.progress.report("Cancel to end it")
        await clean_up.worker.ended.wait()
        clean_up.progress.end("done")
        self._clean_ups.remove(clean_up)

    def _cancel_clean_up(self, token: int | str | None) -> bool:
        """Ends the clean-up, which a person has asked for who was told that this is what it does."""
        found = [each for each in self._clean_ups if token is None or token == each.progress.token]
        for each in found:
            for _ in range(2):
                each.worker.cancel()
        return bool(found)

    async def _announce(self, active: ActiveRun) -> None:
        await active.progress.begin(active.job.title)
        self._on_phase(active)

    def cancel(self, token: int | str | None = None) -> bool:
        """Cancels the run, if one is going on; with a token, only the run that it is the progress of."""
        for each in self.series:
            each.is_cancelled = each.is_cancelled or token in (None, each.token)
        active = self.active
        if active is None and token is None:
            return self._cancel_preparing() or self._cancel_clean_up(None)
        if active is None or (token is not None and token != active.progress.token):
            return self._cancel_clean_up(token)
        log.info("%s is cancelled", active.job.title)
        active.is_cancelled = True
        active.cancelled.set()
        active.worker.cancel()
        self._say(active, "cancelling")
        return True

    def end(self) -> None:
        """When the server goes: the run is cancelled, and a clean-up left alone; a worker bounds both by itself."""
        self._cancel_preparing()
        if self.active is not None:
            self.active.worker.cancel()

    def is_same_click(self, what: object) -> bool:
        """Whether the same was asked for a moment ago, or is about to begin. An older question about it gives way: it
        may be where nobody sees it any more.
        """
        now, active = time.monotonic(), self.active
        if active is not None and active.job.what == what and now - active.began_s < SAME_CLICK_S:
            return True
        for asked in self._asked:
            if asked.what == what:
                if asked.question is None or now - asked.since_s < SAME_CLICK_S:
                    return True
                asked.gave_way = True
                asked.question.cancel()
        return False

    @contextmanager
    def asked_for(self, what: object) -> Generator[Asked]:
        """Around all that comes before a run begins."""
        asked = Asked(what)
        self._asked.append(asked)
        try:
            yield asked
        finally:
            self._asked.remove(asked)

    async def prepared(self, asked: Asked, work: Coroutine[Any, Any, T]) -> T | None:
        """What waits for the client's answers before a run; None if it was cancelled meanwhile."""
        task = asked.question = asyncio.ensure_future(work)
        try:
            await asyncio.wait([task])
        finally:
            task.cancel()
            asked.question = None
        return None if task.cancelled() else task.result()

    def _cancel_preparing(self) -> bool:
        tasks = [asked.question for asked in self._asked if asked.question is not None]
        for task in tasks:
            task.cancel()
        return bool(tasks)

    async def replace(self) -> None:
        """Cancels the run and waits for its end."""
        active = self.active
        if active is not None:
            self.cancel()
            await active.ended.wait()

    def _note(self, active: ActiveRun, event: Event) -> None:
        if isinstance(active.job.work, RunRequest):
            self.warm.note(active.job.work, event)
        if event["event"] == "output":
            self._client.log(event["text"].removesuffix("\n"))
        elif event["event"] == "progress" and event.get("is_leaving"):
            self._see_off(active)
        elif event["event"] == "progress" and active is not self.active:
            self._client.log(f"{active.job.title}: {event['phase']}\n")
        elif event["event"] == "progress":
            if event["region"]:
                if active.is_cancelled:
                    return
                now = time.monotonic()
                if now - self._last_report_s < _SECONDS_BETWEEN_REPORTS:
                    return
                self._last_report_s = now
            self._say(active, phase_text(event, is_focused=active.job.region is not None))

    def _say(self, active: ActiveRun, phase: str) -> None:
        active.phase = phase
        active.progress.report(phase)
        self._on_phase(active)
