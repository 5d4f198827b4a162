"""What is written to stdout and stderr while something of ours runs, kept from the script's readers."""

import contextlib
import ctypes
import os
import sys
import tempfile
from typing import Generator, List

_ENOUGH = 300


@contextlib.contextmanager
def output_held(written: List[str]) -> Generator[None, None, None]:
    """While inside, file descriptors 1 and 2 go to a file; at the end the beginning of it, if any, is in `written`."""
    _flush()
    saved = [os.dup(1), os.dup(2)]
    with tempfile.TemporaryFile() as kept:
        for number in (1, 2):
            os.dup2(kept.fileno(), number)
        try:
            yield
        finally:
            _flush()
            for number, original in zip((1, 2), saved):
                os.dup2(original, number)
                os.close(original)
            kept.seek(0)
            text = kept.read(_ENOUGH).decode("utf-8", "replace").strip()
            if text:
                written.append(text)


def _flush() -> None:
    sys.stdout.flush()
    sys.stderr.flush()
    if os.name == "posix":
        ctypes.CDLL(None).fflush(None)


@contextlib.contextmanager
def low_descriptors_taken(below: int) -> Generator[None, None, None]:
    """While inside, new files get numbers from `below` on: the script's own get those that they always get."""
    taken = [os.open(os.devnull, os.O_RDONLY)]
    try:
        while taken[-1] < below:
            taken.append(os.dup(taken[0]))
        if taken[-1] >= below:
            os.close(taken.pop())
        yield
    finally:
        for number in taken:
            os.close(number)
