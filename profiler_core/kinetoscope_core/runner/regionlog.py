"""The region log: where every entry of a `record_function` stands in the source.

The trace alone cannot tell: Kineto rewrites or loses names, one name stands in many places, and f-strings have no
fixed name. The log is matched to the trace's slices by thread, name and order. Knows nothing of profilers.
"""

import contextlib
import functools
import itertools
import json
import os
import sys
import threading
import time
from array import array
from types import CodeType, FrameType, ModuleType
from typing import Any, Callable, Dict, Iterator, List, Optional, Tuple

CONTEXTLIB = contextlib.__file__
_COLUMNS = ("region", "passage", "place_passage", "thread", "time_ns")


class Place:
    """A place in the source where regions are entered, with what happened there so far."""

    def __init__(self, index: int, file: str, line: int, function: str) -> None:
        self.index = index
        self.file = file
        self.line = line
        self.function = function
        self.entered = itertools.count()
        self.finished = 0
        self.names: Dict[str, "NamedRegion"] = {}


class NamedRegion:
    """A place together with one of the names it was entered with: what a reader calls a region."""

    def __init__(self, index: int, place: Place, name: str) -> None:
        self.index = index
        self.place = place
        self.name = name
        self.safe_name = safe_name(name)
        self.entered = itertools.count()
        self.depth: Dict[int, int] = {}
        """How many passages are open now, by thread."""

    def is_open_here(self) -> bool:
        return self.depth.get(threading.get_native_id(), 0) > 0

    def is_nested_in_itself(self) -> bool:
        return self.depth.get(threading.get_native_id(), 0) > 1


_UNKNOWN = Place(-1, "", 0, "")


class RegionLog:
    """All entries that were made while a window was open, as columns; counts of all others.

    `on_enter(region, passage)` and `on_exit(region, has_failed)` are called around each region of the user's code, on
    its thread: the first before the profiler sees the region, the second after.
    """

    def __init__(
        self, on_enter: Callable[[NamedRegion, int], None], on_exit: Callable[[NamedRegion, bool], None]
    ) -> None:
        self.is_recording = False
        self.open_passages = 0
        self.places: List[Place] = []
        self.regions: List[NamedRegion] = []
        self._on_enter = on_enter
        self._on_exit = on_exit
        self._by_code: Dict[Tuple[int, int], Optional[Place]] = {}
        self._codes: List[CodeType] = []
        self._ignored_folders = (os.path.dirname(os.path.abspath(__file__)) + os.sep,)
        self._lock = threading.Lock()
        self._threads = threading.local()
        self._is_child = False
        self.clear()
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(after_in_child=self._ignore_everything)

    def clear(self) -> None:
        """Forgets the entries of the last window."""
        # One array and one call for an entry: several would mix up the entries of two threads.
        self._entries = array("q")

    def entries(self) -> Dict[str, List[int]]:
        """The columns: region, passage of it, passage of its place, thread, time."""
        return {name: self._entries[index :: len(_COLUMNS)].tolist() for index, name in enumerate(_COLUMNS)}

    def as_values(self) -> Dict[str, Any]:
        """The places and regions, by index, for JSON."""
        return {
            "places": [
                {"file": place.file, "line": place.line, "function": place.function, "finished": place.finished}
                for place in list(self.places)
            ],
            "regions": [
                {"place": region.place.index, "name": region.name, "safe_name": region.safe_name}
                for region in list(self.regions)
            ],
        }

    def _thread_id(self) -> int:
        """The system's id of this thread, as the trace has it; asked of the system once a thread."""
        try:
            known: int = self._threads.id
        except AttributeError:
            known = self._threads.id = threading.get_native_id()
        return known

    def _ignore_everything(self) -> None:
        self._is_child = True

    def hook(self, profiler_module: ModuleType) -> None:
        """Patches `__enter__` and `__exit__` of torch's record_function class in place.

        The class itself stays: names imported earlier would miss a new one, and `torch.compile` and `torch.jit.script`
        recognise it. `functools.wraps` is what lets `torch.jit.script` find the true source.
        """
        record_function: Any = profiler_module.record_function  # pyright: ignore[reportUnknownMemberType]
        torch_folder = os.path.dirname(os.path.dirname(os.path.abspath(str(profiler_module.__file__))))
        self._ignored_folders += (torch_folder + os.sep,)
        enter, leave = record_function.__enter__, record_function.__exit__
        log = self

        @functools.wraps(enter)
        def logged_enter(self: Any) -> Any:
            region = None if log._is_child else log._region(sys._getframe(1), self.name)
            if region is None:
                return enter(self)
            place_passage, passage = next(region.place.entered), next(region.entered)
            thread = log._thread_id()
            region.depth[thread] = region.depth.get(thread, 0) + 1
            log.open_passages += 1
            self._kinetoscope_region = region, thread
            log._on_enter(region, passage)
            if log.is_recording:
                log._entries.extend((region.index, passage, place_passage, thread, time.time_ns()))
            if region.safe_name is region.name:
                return enter(self)
            self.name = region.safe_name
            try:
                return enter(self)
            finally:
                self.name = region.name

        @functools.wraps(leave)
        def logged_exit(self: Any, exc_type: Any, exc_value: Any, traceback: Any) -> Any:
            result = leave(self, exc_type, exc_value, traceback)
            entry = self.__dict__.get("_kinetoscope_region")
            if entry is not None and not log._is_child:
                region, thread = entry
                here = log._thread_id()
                if here != thread and region.depth.get(here):  # a decorator's one object serves all threads
                    thread = here
                region.depth[thread] -= 1
                log.open_passages -= 1
                region.place.finished += 1
                log._on_exit(region, exc_type is not None)
            return result

        record_function.__enter__ = logged_enter
        record_function.__exit__ = logged_exit

    def _region(self, frame: FrameType, name: Any) -> Optional[NamedRegion]:
        """The region that is entered from this frame; None for torch's own and for names that are no text."""
        code, line = frame.f_code, frame.f_lineno
        if code.co_filename == CONTEXTLIB:
            found = _caller_of_contextlib(frame)
            if found is None:
                return None
            code, line = found
        # By identity: the hash of a code object is made anew from its instructions each time, the longer the slower.
        key = id(code), line
        place = self._by_code.get(key, _UNKNOWN)
        if place is _UNKNOWN:
            with self._lock:
                place = self._by_code.get(key, _UNKNOWN)
                if place is _UNKNOWN:
                    self._codes.append(code)  # else its id might be another's one day
                    place = self._by_code[key] = self._new_place(code, line)
        if place is None or not isinstance(name, str):
            return None
        region = place.names.get(name)
        if region is None:
            with self._lock:
                region = place.names.get(name)
                if region is None:
                    region = NamedRegion(len(self.regions), place, name)
                    self.regions.append(region)
                    place.names[name] = region
        return region

    def _new_place(self, code: CodeType, line: int) -> Optional[Place]:
        file = code.co_filename
        if file.startswith(self._ignored_folders):
            return None
        if not file.startswith("<"):
            file = os.path.abspath(file)
        place = Place(len(self.places), file, line, getattr(code, "co_qualname", code.co_name))
        self.places.append(place)
        return place


def window_values(path: str, adopted: bool, records_cuda: bool, entries: Dict[str, List[int]]) -> Dict[str, Any]:
    """What the log says of one recording."""
    return {"trace": os.path.basename(path), "adopted": adopted, "records_cuda": records_cuda, "entries": entries}


def write_log(folder: str, values: Dict[str, Any]) -> None:
    """Writes a run's log, whole or not at all. Raises OSError."""
    path = os.path.join(folder, "regionlog.json")
    with open(path + ".tmp", "w", encoding="utf-8", errors="surrogatepass") as file:
        json.dump(values, file)
    os.replace(path + ".tmp", path)


def _caller_of_contextlib(frame: FrameType) -> Optional[Tuple[CodeType, int]]:
    """Code and line behind an entry made by contextlib: the decorated function, or the caller of `enter_context`."""
    current: Optional[FrameType] = frame
    while current is not None and current.f_code.co_filename == CONTEXTLIB:
        function = current.f_locals.get("func") if current.f_code.co_name == "inner" else None
        code = getattr(_innermost_wrapped(function), "__code__", None)
        if isinstance(code, CodeType):
            return code, code.co_firstlineno
        current = current.f_back
    return None if current is None else (current.f_code, current.f_lineno)


def _innermost_wrapped(function: Any) -> Any:
    while hasattr(function, "__wrapped__"):
        function = function.__wrapped__
    return function


def safe_name(name: str) -> str:
    """The same text if a trace keeps it as it is, else readable printable ASCII without `"` and backslash.

    Kineto writes `"` unescaped, which makes the whole file invalid, and turns other text into `unknown`
    (facts/kineto.md, "Names"). Names that come out alike are told apart by the log.
    """
    if name.isascii() and name.isprintable() and '"' not in name and "\\" not in name:
        return name
    readable = name.replace('"', "'").replace("\\", "/")
    return "".join(_safe_characters(readable))


def _safe_characters(text: str) -> Iterator[str]:
    for character in text:
        if character.isascii():
            yield character if character.isprintable() else " "
        else:
            yield "{%x}" % ord(character)
