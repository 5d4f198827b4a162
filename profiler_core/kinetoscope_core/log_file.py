"""The file of `--log`: what is done, a line a record, of the command, the worker and the server alike.

It gets no output of a script and no value of an environment variable. The standard library's `logging` writes it, and
is imported only then: it takes 7 ms, which every command and every click would take longer.
"""

import os
import sys
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Final

from kinetoscope_core import __version__
from kinetoscope_core.errors import UsageError
from kinetoscope_core.text import printable

if TYPE_CHECKING:
    import logging

PACKAGES: Final = ("kinetoscope_core", "kinetoscope_server")

_path: str | None = None
_core: "logging.Logger | None" = None


def log_to(path: str | os.PathLike[str] | None) -> None:
    """From now on, what this process does is appended to the file; None changes nothing.

    Raises `UsageError` if it cannot be written.
    """
    global _path, _core  # noqa: PLW0603 - a process has one log
    if path is None:
        return
    import logging  # noqa: PLC0415 - see above

    class OneLine(logging.Formatter):
        """Tracebacks and what others wrote in the line of their record."""

        def format(self, record: logging.LogRecord) -> str:
            return printable(super().format(record))

    _path = str(Path(path).absolute())
    try:
        handler = logging.FileHandler(_path, encoding="utf-8", errors="backslashreplace")
    except OSError as error:
        raise UsageError(f"--log: {path} cannot be written: {error.strerror}.") from error
    layout = "%(asctime)s.%(msecs)03d %(process)d %(levelname)s %(module)s: %(message)s"
    handler.setFormatter(OneLine(layout, "%Y-%m-%dT%H:%M:%S"))
    for name in PACKAGES:
        logger = logging.getLogger(name)
        logger.setLevel(logging.DEBUG)
        logger.addHandler(handler)
    _core = logging.getLogger(PACKAGES[0])
    _core.info("kinetoscope %s, Python %s, %s", __version__, sys.version.split()[0], sys.platform)
    shown = sys.excepthook

    def log_and_show(kind: type[BaseException], error: BaseException, traceback: TracebackType | None) -> None:
        logging.getLogger(PACKAGES[0]).critical("an error of ours", exc_info=(kind, error, traceback))
        shown(kind, error, traceback)

    sys.excepthook = log_and_show


def note(text: str, *values: object) -> None:
    """A record, as for `logging.info`; nothing where there is no log."""
    if _core is not None:
        _core.info(text, *values, stacklevel=2)


def is_on() -> bool:
    """Whether there is a log: before what is only made for it."""
    return _core is not None


def options() -> list[str]:
    """What a process of ours is started with, so that it writes there, too."""
    return [] if _path is None else ["--log", _path]
