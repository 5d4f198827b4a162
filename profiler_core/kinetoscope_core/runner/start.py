"""From the first message to the run: a cold one at once; a warm one when it is asked for after preparing."""

import functools
import gc
import os
import sys
import threading
from typing import AbstractSet, Any, Dict, Optional, Tuple

from . import channel as channels
from . import processes, script
from .prewarm.cuda import Priming, has_cuda
from .prewarm.groups import NotPrepared
from .prewarm.imported_ahead import ImportedAhead
from .request import RunRequest
from .script_session import ScriptSession

_leave = os._exit  # the session wraps it
Message = Dict[str, Any]


def main(loaded_by_python: AbstractSet[str]) -> Any:
    """Connects, and does what is asked. `loaded_by_python` is what any script finds loaded when it begins."""
    channel = channels.connect()
    channel.send("hello", python=sys.version.split()[0], executable=sys.executable, pid=os.getpid())
    message = channel.receive(None)
    ahead: Optional[ImportedAhead] = None
    if message is not None and message["do"] == "examine":
        from .examination import examine

        return examine(channel)
    if message is not None and message["do"] == "prepare":
        ahead, message = _prepare(channel, message, loaded_by_python)
    if message is None:
        raise EOFError
    return ScriptSession(channel, message, loaded_by_python, ahead).run()


def _prepare(
    channel: channels.Channel, message: Message, loaded_by_python: AbstractSet[str]
) -> Tuple[ImportedAhead, Optional[Message]]:
    def end(event: str, why: str) -> None:
        channel.send(event, why=why)
        _leave(0)

    def tell(why: str) -> None:
        channel.send("unfit", why=why)  # of a forked child nothing is heard

    request = RunRequest.of(message["request"])
    waiting = _Waiting(channel, message)
    waiting.start()
    priming: Optional[Priming] = None

    def prime(torch: Any) -> None:
        nonlocal priming
        if message["cuda"] and has_cuda(torch):
            priming = Priming(tell)
            priming.prime(torch)

    try:
        script.stand_in(request.script, list(request.arguments))
        ahead = ImportedAhead(loaded_by_python, functools.partial(end, "needs_cold"))
        ahead.preload(list(request.packages), prime)
        gc.collect()
        channel.send("prepared", cuda=priming is not None, memory_bytes=_memory_bytes())
        waiting.join()
        ahead.check_files()
    except NotPrepared as reason:
        end("not_prepared", str(reason))
        raise
    if priming is not None:
        priming.watch()
    return ahead, waiting.message


class _Waiting(threading.Thread):
    """Waits for the message to run, and ends the process when who started it goes, whatever is being imported."""

    def __init__(self, channel: channels.Channel, prepare: Message) -> None:
        super().__init__(name="kinetoscope", daemon=True)
        self._channel = channel
        self._prepare = prepare
        self.message: Optional[Message] = None

    def run(self) -> None:
        try:
            self.message = self._channel.receive(None)
        except (EOFError, channels.LineCut):
            processes.end_with_all(self._prepare["run_id"], self._prepare["own_group"])


def _memory_bytes() -> Optional[int]:
    """What this process holds in memory; None where the system does not say it this way."""
    try:
        with open("/proc/self/statm", "rb") as file:
            return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except OSError:
        return None
