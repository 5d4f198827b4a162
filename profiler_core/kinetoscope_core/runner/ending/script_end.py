"""How the script ended: what Python is to exit with, and what is said and shown of a failure."""

from typing import Any, Callable

from ..channel import Channel
from ..script import ScriptNotFound, hide_our_frames
from . import failures
from .end import End, EndOfRun


def exit_code_of(run: Callable[[], None], channel: Channel, end: End, has_torch: Callable[[], bool]) -> Any:
    """Runs the script and tells the other side of its failure. Returns a code, or a text that Python prints."""
    try:
        run()
    except EndOfRun:
        return 0
    except ScriptNotFound as error:
        channel.send("not_found", message=str(error))
        return 2
    except SystemExit as error:
        return _tell_exit(error, channel, end)
    except BaseException as error:
        failure = error
    else:
        return 0
    # No longer being handled here: an excepthook that fails would show it as the context of its own failure.
    return _show_failure(failure, channel, end, has_torch())


def _tell_exit(error: SystemExit, channel: Channel, end: End) -> Any:
    code = error.code
    number = 0 if code is None else code & 0xFF if isinstance(code, int) else 1
    if number and not end.is_over:
        channel.send("exited", code=number)
    return code


def _show_failure(error: BaseException, channel: Channel, end: End, has_torch: bool) -> Any:
    """Prints the traceback as Python would, without our frames, and reports it."""
    hide_our_frames(error)
    is_interrupt = isinstance(error, KeyboardInterrupt)
    if end.is_over:
        return 0  # what followed from ending it early is not the script's failure
    # Numpy, once its import was cut off, can be imported no more.
    is_cut_off = is_interrupt or (isinstance(error, ImportError) and not has_torch)
    if end.was_stopped and is_cut_off:
        return 130
    try:
        failures.show(error)
    except SystemExit as from_excepthook:
        return _tell_exit(from_excepthook, channel, end)
    channel.send("failed", **failures.describe(error))
    return 130 if is_interrupt else 1
