"""The next run's interpreter, prepared after a run by a worker that waits with it, and never before the first one.

Which run it fits is for the worker to say; here is when there is one, and which scripts have to start cold.
"""

import asyncio
import logging
from collections.abc import Callable, Sequence
from typing import Any, Final, Literal

from kinetoscope_core.run.standby import Preparation
from kinetoscope_core.runner.request import RunRequest
from kinetoscope_server.runs.worker import Event, WorkerProcess

log = logging.getLogger(__name__)

State = Literal["none", "preparing", "ready"]
_Script = tuple[str, bool, str | None]

PREPARE_AFTER_S: Final = 0.3
"""So that what was measured is shown first."""

IDLE_S: Final = 600.0
"""How long it is kept: it holds memory, also of the GPU (docs/performance.md)."""

_SCRIPT_RAN: Final = ("RunError", "RunCancelled", "NothingMeasured")


class WarmInterpreter:
    """At most one prepared worker. `on_state` gets what `kinetoscope/warm` tells; `say` is the log that people see."""

    def __init__(
        self, on_state: Callable[[dict[str, Any]], None], say: Callable[[str], None], idle_s: float = IDLE_S
    ) -> None:
        self._on_state = on_state
        self._say = say
        self._idle_s = idle_s
        self._worker: WorkerProcess | None = None
        self._last: tuple[Preparation, _Script] | None = None
        self._state: State = "none"
        self._cold: dict[_Script, str] = {}
        self._refused: set[Sequence[str]] = set()
        self._timer: asyncio.TimerHandle | None = None
        self._starting: asyncio.Task[None] | None = None

    def worker_for(self, request: RunRequest) -> WorkerProcess | None:
        """The prepared worker, for one run; None where there is none or the script has to start cold."""
        if request.is_plain:
            self.drop()  # two interpreters with CUDA at once make small kernels slower
            return None
        if not request.prepares_next:
            return None
        worker = self._worker
        if worker is None:
            if self._timer is not None:  # the next one would begin to be prepared beside this run
                self._timer.cancel()
            return None
        if _script(request) in self._cold:
            return None
        self._worker = None
        if self._timer is not None:
            self._timer.cancel()
        self._set("none")
        return worker

    def note(self, request: RunRequest, event: Event) -> None:
        """Takes in what a worker says of its run: that the script did without what was prepared."""
        if event["event"] == "cold":
            self._say(f"The prepared interpreter does not fit, so a new one is started: {event['why']}.\n")
        elif event["event"] == "needs_cold":
            self._cold[_script(request)] = event["why"]
            self._say(f"The script begins again in a new interpreter, now and from now on: {event['why']}.\n")

    def after(self, request: RunRequest, event: Event) -> None:
        """Prepares the next run after one that has ended with this event."""
        if not request.prepares_next or _script(request) in self._cold:
            return
        if event.get("why_plain"):
            self._cold[_script(request)] = event["why_plain"]
            self._say(f"The next run will begin in a new interpreter, too: {event['why_plain']}.\n")
            return
        if event.get("preparation"):
            self._last = Preparation.of(event["preparation"]), _script(request)
        elif event.get("kind") not in _SCRIPT_RAN:
            return
        if self._last is not None:
            self.drop()
            preparation, script = self._last
            self._call(PREPARE_AFTER_S, lambda: self._prepare(preparation, script))

    def before(self, request: RunRequest) -> None:
        """Prepares the first run of a file that was opened, unless something is prepared already."""
        if self._worker is None and _script(request) not in self._cold:
            self._prepare(Preparation(request, cuda=True, cold_s=None), _script(request))

    def prepare_now(self, request: RunRequest) -> None:
        """For a run that is to begin in a prepared interpreter, though none is there yet."""
        if self._worker is None and _script(request) not in self._cold:
            fresh = Preparation(request, cuda=True, cold_s=None), _script(request)
            self._prepare(*(self._last or fresh))

    def drop(self) -> None:
        """Ends what is prepared."""
        if self._timer is not None:
            self._timer.cancel()
        worker, self._worker = self._worker, None
        if worker is not None:
            worker.end()
        self._set("none")

    def _call(self, after_s: float, function: Callable[[], None]) -> None:
        if self._timer is not None:
            self._timer.cancel()
        self._timer = asyncio.get_running_loop().call_later(after_s, function)

    def _prepare(self, preparation: Preparation, script: _Script) -> None:
        def note(event: Event) -> None:
            if worker is not self._worker:
                return
            if event["event"] == "prepared":
                self._set("ready", gpu=event["cuda"], memory_bytes=event["memory_bytes"])
            elif event["event"] in ("not_prepared", "ended"):
                why = event.get("why", "its process has ended")
                self._lost(preparation, script, why, is_lasting=event.get("is_lasting", False))

        self.drop()
        if preparation.request.packages in self._refused:
            preparation = preparation._replace(request=preparation.request._replace(packages=()))
        worker = self._worker = WorkerProcess()
        worker.on_event = note
        self._set("preparing")
        self._starting = asyncio.ensure_future(worker.prepare(preparation))
        self._call(self._idle_s, self.drop)

    def _lost(self, preparation: Preparation, script: _Script, why: str, *, is_lasting: bool) -> None:
        """It could not be prepared, or has died. Without the packages of the setting, or without the GPU, it may do;
        else, if it would be so again, the script that it was for starts cold from now on.
        """
        was_ready = self._state == "ready"
        packages = preparation.request.packages
        self.drop()
        if packages and is_lasting and not was_ready:
            self._refused.add(packages)
            self._say(
                f"{', '.join(packages)} cannot be imported ahead, as the setting prepared.packages says: {why}.\n"
            )
            self._prepare(preparation, script)
            return
        self._say(f"No interpreter is kept ready for the next run: {why}.\n")
        if was_ready:
            return
        if preparation.cuda:
            self._prepare(preparation._replace(cuda=False), script)
        elif is_lasting:
            self._cold[script] = why

    def _set(self, state: State, *, gpu: bool = False, memory_bytes: int | None = None) -> None:
        if state != self._state:
            self._state = state
            self._on_state({"state": state, "gpu": gpu, "memory_bytes": memory_bytes})


def _script(request: RunRequest) -> _Script:
    return request.script, request.is_module, request.folder
