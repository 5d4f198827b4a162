"""Processes that read a share of traces each: how many, and that they end with who started them."""

import os
import subprocess
import sys
import threading
from collections.abc import Generator, Iterable, Sequence
from contextlib import contextmanager
from typing import IO


@contextmanager
def readers(module: str, shares: Iterable[Sequence[str]]) -> Generator[list[IO[bytes]]]:
    """A process for each share, given as its arguments, that runs `main` of the module; and what each writes.

    They end with the context. Where the system gives no more processes there are fewer.
    """
    start = f"import sys; sys.path[:] = {sys.path!r}; from {module} import main; main()"
    pipe = subprocess.PIPE
    started: list[subprocess.Popen[bytes]] = []
    try:
        for share in shares:
            command = [sys.executable, "-I", "-c", start, *share]
            try:
                # In a session of its own, since a Ctrl-C is for us.
                started.append(subprocess.Popen(command, stdin=pipe, stdout=pipe, start_new_session=True))
            except OSError:
                break
        yield [process.stdout for process in started if process.stdout is not None]
    finally:
        for process in started:
            process.kill()
            with process:
                pass


def end_with_parent() -> None:
    """Ends this process when the one that reads its output has gone: the input has nothing in it until then."""
    threading.Thread(target=_wait_for_parent, daemon=True).start()


def _wait_for_parent() -> None:
    os.read(0, 1)
    os._exit(1)


def cores() -> int:
    """How many this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
