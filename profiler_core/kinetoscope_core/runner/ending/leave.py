"""How the process ends once the script is done: as Python would, in an order that loses nothing.

Knows nothing of sessions and profilers.
"""

import atexit
import os
import sys
import threading
from typing import Any, Callable, NoReturn, Optional

_exit = os._exit  # the session wraps it


def wait_for_threads(is_expected: Callable[[BaseException], bool]) -> None:
    """As Python does at its end, but before the recording ends, since their regions belong to the run.

    Python calls it once more, which then does nothing. It also ends the workers of executors, which wait for it. An
    error is shown unless it is expected.
    """
    shut_down: Callable[[], Any] = getattr(sys.modules.get("threading", threading), "_shutdown", int)
    try:
        shut_down()
    except BaseException as error:
        if not is_expected(error):
            sys.excepthook(type(error), error, error.__traceback__)


def are_others_running(own: Optional[int]) -> bool:
    """Whether Python still runs on any thread but this one and our `own`, as it does in what an interrupt cut short.

    Python ends such a thread wherever it is; inside of torch that aborts the process ("terminate called …").
    """
    return bool(sys._current_frames().keys() - {threading.get_ident(), own})


def leave(code: Any) -> NoReturn:
    """Ends the process as Python would, but without the exit handlers of C, and without ending threads one by one.

    Those of Kineto wait, in a forked child, for a thread that only the parent has, once a profiler has run there (the
    destructor of libkineto's ConfigLoader; seen on 2.13, without us too).
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
    _exit(number)
