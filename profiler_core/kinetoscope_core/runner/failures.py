"""Shows an exception of the script as Python would, and describes it to the other side."""

import sys
import traceback
from types import TracebackType
from typing import Any, Dict, Optional


def show(error: BaseException, own: Optional[TracebackType]) -> None:
    """What Python does with an exception that nobody caught; `own` is the script's part of its traceback."""
    kind = type(error)
    error.__traceback__ = own
    try:
        sys.excepthook(kind, error, own)
    except BaseException as second:
        if isinstance(second, SystemExit):
            raise
        sys.stderr.write("Error in sys.excepthook:\n")
        here = second.__traceback__
        second.__traceback__ = here and here.tb_next
        sys.__excepthook__(type(second), second, second.__traceback__)
        sys.stderr.write("\nOriginal exception was:\n")
        sys.__excepthook__(kind, error, own)


def describe(error: BaseException, own: Optional[TracebackType]) -> Dict[str, Any]:
    """Its text, and the frames of the stack, innermost last."""
    try:
        message = str(error)
    except Exception:
        message = "its text cannot be shown"
    frames = traceback.extract_tb(own)
    return {
        "type": type(error).__name__,
        "message": message,
        "traceback": "".join(traceback.format_exception(type(error), error, own)),
        "frames": [[frame.filename, frame.lineno, frame.name] for frame in frames],
    }
