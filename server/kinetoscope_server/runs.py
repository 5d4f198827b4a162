"""The one run that is going on: its worker, its phase, its end. What is run, and what becomes of it, is for others."""

import asyncio
import time
from collections.abc import Callable, Coroutine, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, TypeVar

from kinetoscope_server.client import Client
from kinetoscope_server.progress import RunProgress, phase_text
from kinetoscope_server.warm import WarmInterpreter
from kinetoscope_server.workers import Event, Worker

T = TypeVar("T")

_SECONDS_BETWEEN_REPORTS: Final = 0.25


@dataclass(slots=True)
class ActiveRun:
    """A run that is going on. `region` is the row (from 0) and the name of the region that is measured alone."""

    title: str
    uri: str
    region: tuple[int, str] | None
    request: Mapping[str, Any]
    worker: Worker
    progress: RunProgress
    phase: str = "starting"
    is_cancelled: bool = False
    ended: asyncio.Event = field(default_factory=asyncio.Event)


class Runs:
    """At most one run at a time. `on_phase` is called when its phase has changed."""

    def __init__(self, client: Client, warm: WarmInterpreter, on_phase: Callable[[ActiveRun], None]) -> None:
        self._client = client
        self._on_phase = on_phase
        self._last_report_s = 0.0
        self.active: ActiveRun | None = None
        self.warm = warm
        self._preparing: set[asyncio.Task[Any]] = set()
        self.beginning = asyncio.Lock()
        """Held from seeing that nothing is active until something is."""

    def begin(
        self,
        request: Mapping[str, Any],
        title: str,
        uri: str,
        region: tuple[int, str] | None,
        token: int | str | None,
        finish: Callable[[Event], T],
    ) -> asyncio.Future[T]:
        """Begins a run, whose result is what `finish` makes of its last event. Nothing may be active."""
        worker = self.warm.worker_for(request) or Worker()
        active = self.active = ActiveRun(title, uri, region, request, worker, RunProgress(self._client, token))

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
        try:
            event, _ = await asyncio.gather(active.worker.result(active.request), self._announce(active))
            end = "cancelled" if active.is_cancelled else "done" if event["event"] == "result" else "failed"
        finally:
            self.active = None
            active.ended.set()
            active.progress.end(end)
            self._on_phase(active)
        self.warm.after(active.request, event)
        return finish(event)

    async def _announce(self, active: ActiveRun) -> None:
        await active.progress.begin(active.title)
        self._on_phase(active)

    def cancel(self, token: int | str | None = None) -> bool:
        """Cancels the run, if one is going on; with a token, only the run that it is the progress of."""
        active = self.active
        if active is None and token is None:
            return self._cancel_preparing()
        if active is None or (token is not None and token != active.progress.token):
            return False
        active.is_cancelled = True
        active.worker.cancel()
        self._say(active, "cancelling")
        return True

    async def prepared(self, work: Coroutine[Any, Any, T]) -> T | None:
        """What comes before a run, as long as it waits for the client's answers; None if it was cancelled meanwhile."""
        task = asyncio.ensure_future(work)
        self._preparing.add(task)
        try:
            await asyncio.wait([task])
        finally:
            task.cancel()
            self._preparing.discard(task)
        return None if task.cancelled() else task.result()

    def _cancel_preparing(self) -> bool:
        tasks = list(self._preparing)
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
        self.warm.note(active.request, event)
        if event["event"] == "output":
            self._client.log(event["text"].removesuffix("\n"))
        elif event["event"] == "progress" and active is self.active and not active.is_cancelled:
            if event["region"]:
                now = time.monotonic()
                if now - self._last_report_s < _SECONDS_BETWEEN_REPORTS:
                    return
                self._last_report_s = now
            self._say(active, phase_text(event, is_focused=active.region is not None))

    def _say(self, active: ActiveRun, phase: str) -> None:
        active.phase = phase
        active.progress.report(phase)
        self._on_phase(active)
