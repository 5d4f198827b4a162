"""Keeps Kineto's log lines out of the script's stderr, and reads from them why there is no GPU activity.

Kineto writes to file descriptor 2 when a profiler starts and stops; Python sees none of it.
"""

import contextlib
import os
import re
import sys
import tempfile
from typing import IO, Generator, Iterable, Iterator, List, Optional

_LINE_OF_KINETO = re.compile(
    rb"^(?:\[rank\d+\]: ?)?"  # torch's own, under an initialised process group
    rb"(?:[A-Z]+:\d{4}-\d\d-\d\d [\d:]+ \d+:\d+ \S+\.(?:cpp|h):\d+\]"
    rb"|ERROR: External init callback must run in same thread"
    rb"|\[W.* Toggling CPU activity)"
)
_open = open  # as it was before the script, which may patch it
KEPT = "stderr.kept"
"""What stands in it when the process has crashed was written while a profiler started or stopped."""
_FAILURES = (b"CUPTI_ERROR", b"CUPTI initialization failed", b"Failed to init", b"insufficient privileges")


@contextlib.contextmanager
def kineto_log_kept(failures: List[str], folder: Optional[str] = None) -> Generator[None, None, None]:
    """While inside, fd 2 goes to a file: `KEPT` in the folder, if there is one, so that it is there after a crash.

    At the end Kineto's failures are appended to `failures`, its other lines are dropped, and all else is passed on.
    """
    try:
        true_stderr = os.dup(2)
    except OSError:  # the script runs without a stderr
        yield
        return
    with _kept_in(folder) as kept:
        with contextlib.suppress(AttributeError, OSError, ValueError):  # the script may have closed or replaced it
            sys.stderr.flush()
        os.dup2(kept.fileno(), 2)
        try:
            yield
        finally:
            os.dup2(true_stderr, 2)
            os.close(true_stderr)
            kept.seek(0)
            for line in not_of_kineto(kept, failures):
                os.write(2, line)


def not_of_kineto(lines: Iterable[bytes], failures: List[str]) -> Iterator[bytes]:
    """The lines that Kineto did not write; its failures are appended to `failures`."""
    for line in lines:
        if any(failure in line for failure in _FAILURES):
            failures.append(line.decode("utf-8", "replace").strip())
        elif not _LINE_OF_KINETO.match(line):
            yield line


@contextlib.contextmanager
def _kept_in(folder: Optional[str]) -> Generator[IO[bytes], None, None]:
    path = os.path.join(folder or "", KEPT)
    try:
        kept = tempfile.TemporaryFile() if folder is None else _open(path, "w+b")  # noqa: SIM115 - closed below
    except OSError:  # a full disk: this must not be what ends the measuring
        with _open(os.devnull, "w+b") as nowhere:
            yield nowhere
        return
    with kept:
        yield kept
    if folder is not None:
        with contextlib.suppress(OSError):
            os.remove(path)
