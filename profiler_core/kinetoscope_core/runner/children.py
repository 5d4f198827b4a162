"""Processes that the script started: how a forked one leaves, and whether there were any that matter.

Knows nothing of sessions and profilers.
"""

import atexit
import os
import sys
import threading
from typing import Any, Callable, NoReturn

try:
    import resource
except ImportError:  # Windows
    resource = None  # type: ignore[assignment]

_BYTES_WITH_TORCH = 100_000_000
_SECONDS_WITH_TORCH = 0.3


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


def have_worked() -> bool:
    """Whether a process that the script started, and has waited for, was as large and busy as one with torch.

    False where the system does not tell (Windows).
    """
    if resource is None:
        return False
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    bytes_of_unit = 1 if sys.platform == "darwin" else 1024
    return usage.ru_maxrss * bytes_of_unit >= _BYTES_WITH_TORCH and usage.ru_utime >= _SECONDS_WITH_TORCH


def keep_before_leaving(is_child: Callable[[], bool], finish: Callable[..., None]) -> None:
    """Patches the functions of `os` after which nothing of this program runs, so that what is measured is kept."""
    for name in ("_exit", "execv", "execve"):
        setattr(os, name, _finishing_before(name, is_child, finish))


def _finishing_before(name: str, is_child: Callable[[], bool], finish: Callable[..., None]) -> Callable[..., Any]:
    original: Any = getattr(os, name)

    def keep_and_leave(*arguments: Any, **options: Any) -> Any:
        if not is_child():
            code = arguments[0] if name == "_exit" and arguments else None
            finish(exit_code=code, left_by="os." + name)
        return original(*arguments, **options)

    return keep_and_leave
