"""Shows an exception of the script as Python would, and describes it to the other side."""

import sys
import traceback
from typing import Any, Dict, List, Optional, Sequence, Tuple

from ..own_files import is_the_user_s

_Frame = Tuple[str, int, str]


def show(error: BaseException) -> None:
    """What Python does with an exception that nobody caught."""
    kind, own = type(error), error.__traceback__
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


def describe(error: BaseException) -> Dict[str, Any]:
    """Its text, the module that it misses, the frames of its stack, the innermost last, and the user's own place."""
    try:
        message = str(error)
    except Exception:
        message = "its text cannot be shown"
    frames = frames_of(error)
    file, line = place_of(frames)
    return {
        "type": type(error).__name__,
        "message": message,
        "missing": missing_module(error),
        "traceback": "".join(traceback.format_exception(type(error), error, error.__traceback__)),
        "file": file,
        "line": line,
        "frames": [{"file": file, "line": line, "function": function} for file, line, function in frames],
    }


def missing_module(error: BaseException) -> Optional[str]:
    """The name of the module whose import failed because there is none."""
    name = error.name if isinstance(error, ModuleNotFoundError) else None
    return name if isinstance(name, str) else None


def frames_of(error: BaseException) -> List[_Frame]:
    """The calls that led to it: file, line from 1, and function. Of a recursion three, as Python prints it.

    What cannot be parsed has no frame: it is added, where the error says that it stands.
    """
    stack = traceback.walk_tb(error.__traceback__)
    frames: List[Any] = [(each.f_code.co_filename, line, each.f_code.co_name) for each, line in stack]
    if isinstance(error, SyntaxError):
        frames.append((error.filename, error.lineno, "<module>"))
    found: List[_Frame] = []
    for frame in frames:
        file, line, _ = frame  # a script may raise a SyntaxError with anything in it
        if isinstance(file, str) and isinstance(line, int) and line > 0 and found[-3:] != [frame] * 3:
            found.append(frame)
    return found


def place_of(frames: Sequence[_Frame]) -> Tuple[Optional[str], Optional[int]]:
    """File and line of the innermost frame that the user can do something about; None where all are of libraries."""
    return next(((file, line) for file, line, _ in reversed(frames) if is_the_user_s(file)), (None, None))
