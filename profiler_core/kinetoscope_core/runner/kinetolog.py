"""Keeps Kineto's log lines out of the script's stderr, and reads from them why there is no GPU activity.

Kineto writes to file descriptor 2 when a profiler starts and stops; Python sees none of it.
"""

import contextlib
import os
import re
import sys
import tempfile
from typing import Generator, List

_LINE_OF_KINETO = re.compile(
    rb"^[A-Z]+:\d{4}-\d\d-\d\d [\d:]+ \d+:\d+ \S+\.(?:cpp|h):\d+\]"
    rb"|^ERROR: External init callback must run in same thread"
    rb"|^\[W.* Toggling CPU activity"
)
_FAILURES = (b"CUPTI_ERROR", b"CUPTI initialization failed", b"Failed to init", b"insufficient privileges")


@contextlib.contextmanager
def kineto_log_kept(failures: List[str]) -> Generator[None, None, None]:
    """While inside, fd 2 goes to a file.

    At the end Kineto's failures are appended to `failures`, its other lines are dropped, and all else is passed on.
    """
    try:
        true_stderr = os.dup(2)
    except OSError:  # the script runs without a stderr
        yield
        return
    with tempfile.TemporaryFile() as kept:
        with contextlib.suppress(AttributeError, OSError, ValueError):  # the script may have closed or replaced it
            sys.stderr.flush()
        os.dup2(kept.fileno(), 2)
        try:
            yield
        finally:
            os.dup2(true_stderr, 2)
            os.close(true_stderr)
            kept.seek(0)
            for line in kept:
                if any(failure in line for failure in _FAILURES):
                    failures.append(line.decode("utf-8", "replace").strip())
                elif not _LINE_OF_KINETO.match(line):
                    os.write(2, line)
