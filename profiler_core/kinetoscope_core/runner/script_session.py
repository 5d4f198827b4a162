"""One run of a script, from the first message to the last."""

import signal
from functools import partial
from typing import Any

from . import script
from .ending import leave
from .ending.end import EndOfRun
from .ending.interrupts import interrupts_deferred
from .ending.script_end import exit_code_of
from .ending.sigterm import Sigterm
from .session import Session


class ScriptSession(Session):
    """A session in a process that is there for the script alone."""

    def run(self) -> Any:
        """Runs the script to its end. Returns what Python is to exit with: a code, or a text that it prints."""
        self._move_in()
        self._watch_imports()
        self._sigterm = Sigterm()
        self._begin_to_watch()
        self._channel.send("phase", phase="running")
        run = partial(script.run, self._request, self._loaded_by_python)
        code = exit_code_of(run, self._channel, self._end, lambda: self._has_torch)
        if self._is_child():
            leave.leave(code)
        self._end.has_left = True
        leave.wait_for_threads(self._end.explains)
        with interrupts_deferred():
            try:
                self.finish(exit_code=code)
            except EndOfRun:  # came from the watching thread when the script had just ended
                self.finish(exit_code=code)
            self._sigterm.let_go()
            if self._end.was_stopped:  # the script ended before the watching thread could interrupt it
                signal.signal(signal.SIGINT, signal.SIG_IGN)
        if (self._end.is_over or self._end.was_stopped) and leave.are_others_running(self._watching.ident):
            leave.leave(code)
        return code
