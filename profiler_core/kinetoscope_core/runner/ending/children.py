"""Processes: what a script loses when it leaves by `os`, and whether it started any that matter.

Knows nothing of sessions and profilers.
"""

import os
import sys
from typing import Any, Callable

from .. import processes

try:
    import resource
except ImportError:  # Windows
    resource = None  # type: ignore[assignment]

_BYTES_WITH_TORCH = 100_000_000
_SECONDS_WITH_TORCH = 0.3


def have_worked(run_id: str) -> bool:
    """Whether a process that the script started was as large and busy as one with torch.

    It may be one of the run that lives, as Ray's do when the script ends, or one that the script has waited for. False
    where the system does not tell (Windows).
    """
    if resource is None:
        return False
    if any(_bytes_of(process) >= _BYTES_WITH_TORCH for process in processes.processes_of(run_id)):
        return True
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    bytes_of_unit = 1 if sys.platform == "darwin" else 1024
    return usage.ru_maxrss * bytes_of_unit >= _BYTES_WITH_TORCH and usage.ru_utime >= _SECONDS_WITH_TORCH


def _bytes_of(process: int) -> int:
    """How much of it is in memory; 0 once it has ended."""
    try:
        with open(f"/proc/{process}/statm", "rb") as file:
            return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except OSError:
        return 0


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
