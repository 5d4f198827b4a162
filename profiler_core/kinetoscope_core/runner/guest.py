"""A process that a command has started: measured from its first region on, and left alone in all else.

Until then there is no line, no thread and no patch of `os` in it; then it calls who started the command.
"""

import atexit
import os
import socket
import sys
import threading
from json import load
from typing import AbstractSet, Any, Dict

from . import channel as channels
from . import script
from .ending import failures
from .ending.sigterm import Sigterm
from .ending.together import Together
from .session import Session

ENVIRONMENT_VARIABLE = "KINETOSCOPE_JOIN"
"""Names the file that says whom to call, and what is asked for."""

_open = open  # as it was before the script, which may patch it


def attend(loaded: AbstractSet[str]) -> None:
    """Begins to wait for regions. `loaded` are the modules that the program has by now."""
    try:
        with _open(os.environ[ENVIRONMENT_VARIABLE], encoding="utf-8") as file:
            values = load(file)
    except (OSError, ValueError):  # the run is over, and this is what it left
        return
    script.forget_what_the_script_would_not_find(loaded)
    Guest(values, loaded).attend()


class Guest(Session):
    """A session without a script of its own: what runs has begun without it."""

    def __init__(self, values: Dict[str, Any], loaded: AbstractSet[str]) -> None:
        channel = channels.Channel()
        self._together = Together(channel.send)
        super().__init__(channel, {**values, "own_group": False}, loaded, end=self._together)
        self._values = values
        self._has_joined = False
        self._joining = threading.Lock()

    def attend(self) -> None:
        """Waits for regions, also in forked children, as long as none was entered."""
        self._watch_imports()
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(after_in_child=self._begin_in_child)

    def _begin_in_child(self) -> None:
        if not self._has_joined:
            self._pid = os.getpid()
            self._joining = threading.Lock()
            self._log.begin_in_child()
            self._together.begin_in_child()

    def _join(self) -> None:
        with self._joining:
            if self._has_joined or self._is_child():
                return
            self._has_joined = True
            try:
                connection = channels.connection_to(self._values["address"], self._values["key"])
                folder = _new_folder(self._values["folder"])
            except (OSError, EOFError):  # the run is over; what it left is none of ours
                self._pid = -1
                return
            self._channel.join(connection)
            self._report.folder = self._profiler.folder = folder
            self._channel.send(
                "hello",
                python=sys.version.split()[0],
                executable=sys.executable,
                pid=os.getpid(),
                host=socket.gethostname(),
                arguments=list(getattr(sys, "orig_argv", sys.argv)),
                folder=folder,
                **self._together.rank_facts(),
            )
            self._move_in()
            self._sigterm = Sigterm()
            atexit.register(self._finish_at_exit)
            self._begin_to_watch()

    def _finish_at_exit(self) -> None:
        if self._is_child():
            return
        error = getattr(sys, "last_value", None)
        if isinstance(error, BaseException) and not self._end.explains(error):
            self._channel.send("failed", **failures.describe(error))
        self.finish()
        self._sigterm.let_go()

    def _obey(self, message: Dict[str, Any]) -> None:
        do = message["do"]
        if do == "end_at":
            call = self._together.propose(message["place"], message["call"])
            self._channel.send("proposed", number=message["number"], calls=call)
        elif do == "agreed":
            self._together.agree()
        elif do == "stand":
            waiting = [] if self._state != "recording" else self._schedule.waits_for()
            calls = self._together.calls()
            self._channel.send("stands", number=message["number"], waiting=waiting, calls=calls, state=self._state)
        elif do == "close" and self._state == "recording":
            self._end.begin_after(self._stop_recording, "enough", is_raised_here=False)
        else:
            super()._obey(message)

    def _end_with_starter(self) -> None:
        """Who that is may end long before."""

    def _when_terminated(self) -> None:
        """Keeps what is measured, and ends as it would have without us: a launcher ends its ranks so when one fails."""
        self.finish()
        self._sigterm.let_go()
        self._sigterm.die()


def _new_folder(parent: str) -> str:
    """A folder of this process in that of the run: another host may have one of the same number."""
    number = 0
    while True:
        name = f"process-{os.getpid()}" + (f"-{number}" if number else "")
        try:
            os.mkdir(os.path.join(parent, name), 0o700)
        except FileExistsError:
            number += 1
        else:
            return os.path.join(parent, name)
