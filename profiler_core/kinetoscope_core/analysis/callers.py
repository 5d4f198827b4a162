"""Which function of the user's called what ran, in traces that hold Python stacks."""

import re
import sys
from collections import defaultdict
from collections.abc import Collection
from typing import Final, NamedTuple

from kinetoscope_core.analysis.attribution.open_spans import OpenSpans
from kinetoscope_core.trace import Trace

_FRAME: Final = re.compile(r"(?P<file>.+?\.py)\((?P<line>\d+)\): (?P<function>.+)")
_PACKAGES: Final = re.compile(r"(^|[\\/])(site|dist)-packages[\\/]|[\\/]lib[\\/]python3[^\\/]*[\\/]")


class Function(NamedTuple):
    """A function as the trace names it (`trace.columns.PythonFrames`)."""

    file: str
    line: int
    function: str


class Callers:
    """Answers `at`. Of `files`, those of the user, only functions in these count; where none are known, all that is
    neither torch nor the standard library, nor below a folder of packages.
    """

    def __init__(self, trace: Trace, files: Collection[str] = ()) -> None:
        self._functions = {
            number: function
            for number in set(trace.frames.name)
            if (function := _function(trace.names[number])) is not None and _is_user_s(function.file, files)
        }
        spans: defaultdict[int, list[tuple[int, int, int]]] = defaultdict(list)
        frames = trace.frames
        rows = zip(frames.name, frames.thread, frames.start_ns, frames.duration_ns, strict=True)
        for name, thread, start, ns in rows:
            if name in self._functions:
                spans[thread].append((start, start + ns, name))
        self._open = {
            thread: OpenSpans(sorted(each, key=lambda span: (span[0], -span[1]))) for thread, each in spans.items()
        }

    def at(self, thread: int, moment: int) -> Function | None:
        """The innermost function of the user's that was open on the thread then, by its number."""
        spans = self._open.get(thread)
        return None if spans is None else self._functions.get(spans.innermost_at(moment))


def _function(name: str) -> Function | None:
    found = _FRAME.fullmatch(name)
    return None if found is None else Function(found["file"], int(found["line"]), found["function"])


def _is_user_s(file: str, files: Collection[str]) -> bool:
    if files:
        return any(each == file or each.endswith(("/" + file, "\\" + file)) for each in files)
    top = re.split(r"[\\/]", file)[0].removesuffix(".py")
    return top != "torch" and top not in sys.stdlib_module_names and _PACKAGES.search(file) is None
