"""How a forked child leaves. Knows nothing of sessions and profilers."""

import atexit
import os
import sys
import threading
from typing import Any, NoReturn


def leave(code: Any) -> NoReturn:
    """Ends a forked child as Python would, but without the exit handlers of C.

    Those of Kineto wait for a thread that only the parent has, once a profiler has run there (the destructor of
    libkineto's ConfigLoader; seen on 2.13, without us too).
    """
    number = 0 if code is None else code & 0xFF if isinstance(code, int) else 1
    if code is not None and not isinstance(code, int):
        sys.stderr.write(str(code) + "\n")
    finalisers: Any = (getattr(threading, "_shutdown", int), getattr(atexit, "_run_exitfuncs", int))
    for function in (*finalisers, sys.stdout.flush, sys.stderr.flush):
        try:
            function()
        except BaseException:
            sys.excepthook(*sys.exc_info())  # type: ignore[arg-type]
    os._exit(number)
