"""Shows an exception of the script as Python would, and describes it to the other side."""

import os
import sys
import sysconfig
import traceback
from typing import Any, Dict, List, Optional, Sequence, Tuple

from .. import FOLDER

_Frame = Tuple[str, int, str]
_PACKAGES = ("site-packages", "dist-packages")


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
    """Its text, the frames of the stack, innermost last, and its place: the innermost that is the user's own line."""
    try:
        message = str(error)
    except Exception:
        message = "its text cannot be shown"
    frames = [(frame.filename, frame.lineno or 0, frame.name) for frame in traceback.extract_tb(error.__traceback__)]
    return {
        "type": type(error).__name__,
        "message": message,
        "traceback": "".join(traceback.format_exception(type(error), error, error.__traceback__)),
        "frames": frames,
        "place": place_of(error, frames),
    }


def place_of(error: BaseException, frames: Sequence[_Frame]) -> Optional[Tuple[str, int]]:
    """File and line, from 1, that the user can do something about; None where all of it is of libraries.

    What cannot be parsed has no frame: its place is where the error says.
    """
    found = [(file, line) for file, line, _ in frames]
    if isinstance(error, SyntaxError) and error.filename and error.lineno:
        found.append((error.filename, error.lineno))
    return next((place for place in reversed(found) if is_the_user_s(place[0])), None)


def is_the_user_s(file: str) -> bool:
    """Whether a file is neither the standard library's, nor of an installed package, nor generated, nor ours."""
    if file.startswith("<"):
        return False
    path = os.path.normcase(os.path.realpath(file))
    if any(each in path.split(os.sep) for each in _PACKAGES):
        return False
    return not path.startswith(tuple(_library_folders()))


def _library_folders() -> List[str]:
    names = ("stdlib", "platstdlib")
    found = [FOLDER, os.path.dirname(os.__file__), *filter(None, map(sysconfig.get_path, names))]
    return [os.path.normcase(os.path.realpath(each)) + os.sep for each in found]
