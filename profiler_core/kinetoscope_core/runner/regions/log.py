"""The region log: where every entry of a `record_function` stands in the source.

The trace alone cannot tell: Kineto rewrites or loses names, one name stands in many places, and f-strings have no
fixed name. The log is matched to the trace's slices by thread, name and order. Knows nothing of profilers.
"""

import functools
import os
import sys
import threading
from array import array
from time import time_ns
from types import CodeType, FrameType, ModuleType
from typing import Any, Callable, Dict, List, NamedTuple, Optional, Tuple

from .. import FOLDER
from .entered_names import NamedRegion, Place, Series, pattern_of, safe_name
from .places import Level, Places

MOST_NAMES = 1000
"""Of one place: names that are new then are counted by their pattern, so that numbered steps take no memory."""

OTHER_NAMES = "…"
_COLUMNS = ("region", "call", "place_call", "thread", "time_ns")


class _Thread(threading.local):
    """A thread's id as the system and the trace have it, how many regions it is in, and the number of the outermost."""

    def __init__(self) -> None:
        self.id = threading.get_native_id()
        self.open = 0
        self.outer = 0


class Entry(NamedTuple):
    """One entry of a region: on which thread, and how many calls of the region there had been before."""

    region: NamedRegion
    thread: int
    call: int


class OpenRegion(NamedTuple):
    """A region that we opened: what the log knows of it, and torch's `record_function`."""

    entry: Entry
    record: Any


_UNKNOWN = Place(-1, [Level(pattern_of.__code__, 0, "own")])


class RegionLogger:
    """All entries that were made while we recorded, as columns; counts of all others.

    `on_enter(region, call)` and `on_exit(region, has_failed)` are called around each region of the user's code, on
    its thread: the first before the profiler sees the region, the second after. `steps` follows what torch enters.
    """

    def __init__(self, on_enter: Callable[..., None], on_exit: Callable[..., None], steps: Any = None) -> None:
        self.is_recording = False
        self.open_calls = 0
        self.places: List[Place] = []
        self.regions: List[NamedRegion] = []
        self._on_enter = on_enter
        self._on_exit = on_exit
        self._steps = steps
        self._by_code: Dict[Tuple[int, int], Optional[Place]] = {}
        self._by_levels: Dict[Tuple[Tuple[int, int], ...], Place] = {}
        self._codes: List[CodeType] = []
        self._behind = Places((FOLDER,))
        self._lock = threading.Lock()
        self._thread = _Thread()
        self._is_child = False
        self._record_function: Any = None
        self._enter: Callable[[Any], Any]
        self._leave: Callable[..., Any]
        self.clear()
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(after_in_child=self._ignore_everything)

    def clear(self) -> None:
        """Forgets the entries of the last recording."""
        # One array and one call for an entry: several would mix up the entries of two threads.
        self._entries = array("q")
        self._raised: List[Tuple[int, int, str]] = []

    def entries(self) -> Dict[str, List[Any]]:
        """The columns: region, call of it, call of its place, thread, time. `raised` has region, call and the
        exception's type of those that an exception ended.
        """
        columns = {name: self._entries[index :: len(_COLUMNS)].tolist() for index, name in enumerate(_COLUMNS)}
        return {**columns, "raised": list(self._raised)}

    def as_values(self) -> Dict[str, Any]:
        """The places and regions, by index, for JSON."""
        return {
            "places": [
                {
                    "file": place.file,
                    "line": place.line,
                    "function": place.function,
                    "through": place.through,
                    "finished": place.finished,
                }
                for place in list(self.places)
            ],
            "regions": [
                {
                    "place": region.place.index,
                    "name": region.name,
                    "safe_name": region.safe_name,
                    "is_pattern": region.is_pattern,
                    "finished": region.finished,
                    "module": region.module,
                }
                for region in list(self.regions)
            ],
        }

    def open_regions(self) -> Dict[int, int]:
        """How many calls of each region, by index, have been entered and not left."""
        depths = ((region.index, sum(region.depth.copy().values())) for region in list(self.regions))
        return {index: depth for index, depth in depths if depth > 0}

    def are_open_for(self, seconds: float) -> bool:
        """Whether every region that is open now has been for so long."""
        before_ns = time_ns() - int(seconds * 1e9)
        return all(
            region.since_ns.get(thread, 0) <= before_ns
            for region in list(self.regions)
            for thread, depth in region.depth.copy().items()
            if depth > 0
        )

    def _ignore_everything(self) -> None:
        self._is_child = True

    def begin_in_child(self) -> None:
        """In a forked child that is measured for itself."""
        self._is_child = False
        self._lock = threading.Lock()
        self._thread = _Thread()

    def hook(self, profiler_module: ModuleType) -> None:
        """Patches `__enter__` and `__exit__` of torch's record_function class in place.

        The class itself stays: names imported earlier would miss a new one, and `torch.compile` and `torch.jit.script`
        recognise it. `functools.wraps` is what lets `torch.jit.script` find the true source.
        """
        record_function: Any = profiler_module.record_function  # pyright: ignore[reportUnknownMemberType]
        torch_folder = os.path.dirname(os.path.dirname(os.path.abspath(str(profiler_module.__file__))))
        self._behind.ignored_folders += (torch_folder + os.sep,)
        enter, leave = record_function.__enter__, record_function.__exit__
        self._record_function, self._enter, self._leave = record_function, enter, leave
        log = self

        @functools.wraps(enter)
        def logged_enter(self: Any) -> Any:
            name = self.name
            entry = log.note_entry(sys._getframe(1), name)
            if entry is None:
                if log._steps is not None and not log._is_child:
                    log._steps.note_entry(name)
                return enter(self)
            self.__dict__.setdefault("_kinetoscope_entries", []).append(entry)
            safe = entry.region.safe_name
            if entry.region.is_pattern:
                safe = safe_name(name)
            if safe is name:
                return enter(self)
            self.name = safe
            try:
                return enter(self)
            finally:
                self.name = name

        @functools.wraps(leave)
        def logged_exit(self: Any, exc_type: Any, exc_value: Any, traceback: Any) -> Any:
            result = leave(self, exc_type, exc_value, traceback)
            entries = self.__dict__.get("_kinetoscope_entries")
            if entries:
                # A decorator's one object serves all threads.
                here = log.thread_id
                entry = next((each for each in reversed(tuple(entries)) if each.thread == here), entries[-1])
                entries.remove(entry)
                log.note_exit(entry, sys._getframe(1), exc_type)
            elif log._steps is not None and not log._is_child:
                log._steps.note_exit(self.name, has_failed=exc_type is not None)
            return result

        record_function.__enter__ = logged_enter
        record_function.__exit__ = logged_exit

    @property
    def thread_id(self) -> int:
        """That of the thread that is here."""
        return self._thread.id

    def note_entry(self, frame: FrameType, name: Any) -> Optional[Entry]:
        """What is entered from this frame; None where it is not the user's."""
        region = None if self._is_child else self._region(frame, name)
        return None if region is None else self._note(region)

    def open_region(self, region: NamedRegion) -> Optional[OpenRegion]:
        """Enters a region of ours; None in a forked child."""
        if self._is_child:
            return None
        entry = self._note(region)
        record = self._record_function(region.safe_name)
        self._enter(record)
        return OpenRegion(entry, record)

    def close_region(self, opened: OpenRegion, exception: Optional[type]) -> None:
        """Leaves it; `exception` is the type of what ended it."""
        self._leave(opened.record, exception, None, None)
        self.note_exit(opened.entry, sys._getframe(0), exception)

    def region_at(self, levels: List[Level], name: str) -> NamedRegion:
        """The region of this name at the last of the lines, with those before it as `Place.through`."""
        with self._lock:
            place = self._place_at(levels)
            place.stand_at(len(levels) - 1)
            place.is_settled = True
            return place.names.get(name) or self._new_region(place, name)

    def _note(self, region: NamedRegion) -> Entry:
        place, series, thread = region.place, region.series, self._thread
        place_call, call = next(place.entered), next(region.entered)
        number = thread.id
        if not thread.open:
            thread.outer += 1
        thread.open += 1
        self.open_calls += 1
        region.depth[number] = depth = region.depth.get(number, 0) + 1
        if series.names > 1:
            series.note_entry(number, thread.outer)
        self._on_enter(region, call)
        if self.is_recording:
            now = time_ns()
            if depth == 1:
                region.since_ns[number] = now
            self._entries.extend((region.index, call, place_call, number, now))
        return Entry(region, number, call)

    def note_exit(self, entry: Entry, frame: FrameType, exception: Optional[type]) -> None:
        """That the region has ended, from this frame; `exception` is the type of what ended it."""
        if self._is_child:
            return
        region, number, call = entry
        place, series, thread = region.place, region.series, self._thread
        if exception is not None and self.is_recording:
            self._raised.append((region.index, call, exception.__name__))
        region.depth[number] -= 1
        if series.names > 1:
            series.open[number] = series.open.get(number, 1) - 1
        if thread.open:
            thread.open -= 1
        self.open_calls -= 1
        region.finished += 1
        series.finished += 1
        place.finished += 1
        if not place.is_settled:
            self._settle(place, frame)
        self._on_exit(region, exception is not None)

    def _region(self, frame: FrameType, name: Any) -> Optional[NamedRegion]:
        """The region that is entered from this frame; None for torch's own and for names that are no text."""
        key = id(frame.f_code), frame.f_lineno
        place = self._by_code.get(key, _UNKNOWN)
        if place is _UNKNOWN:
            place = self._place(frame, key)
        if place is None or not isinstance(name, str):
            return None
        region = place.names.get(name)
        if region is None:
            with self._lock:
                region = place.names.get(name) or self._new_region(place, name)
        return region

    def _place(self, frame: FrameType, key: Tuple[int, int]) -> Optional[Place]:
        """The place of an entry from this frame, which stands there or behind helpers."""
        steps = self._behind.steps(frame)
        through = tuple([(id(step[0]), step[1]) for step in steps])
        place = self._by_levels.get(through) if steps else None
        if steps and place is None:
            with self._lock:
                place = self._place_at([Level(*step) for step in steps])
        if not self._behind.may_be_a_helper(frame):
            self._by_code[key] = place
        return place

    def _place_at(self, levels: List[Level]) -> Place:
        through = tuple([(id(level.code), level.line) for level in levels])
        place = self._by_levels.get(through)
        if place is None:
            self._codes += [level.code for level in levels]  # else an id might be another's one day
            place = self._by_levels[through] = Place(len(self.places), levels)
            self.places.append(place)
        return place

    def _settle(self, place: Place, frame: FrameType) -> None:
        with self._lock:
            if not place.is_settled:
                index = self._behind.settle(place.levels, frame)
                place.stand_at(index)
                place.is_settled = True
                shorter = tuple([(id(level.code), level.line) for level in place.levels[: index + 1]])
                self._by_levels.setdefault(shorter, place)

    def _new_region(self, place: Place, name: str) -> NamedRegion:
        """A region of a name that is new at the place; beyond a number of them one for all that are like it."""
        pattern = pattern_of(name)
        if pattern not in place.series and len(place.series) >= MOST_NAMES:
            pattern = OTHER_NAMES
        series = place.series.get(pattern)
        if series is None:
            series = place.series[pattern] = Series(place, self._thread.outer + (not self._thread.open))
        series.names += 1
        if series.names == 2 and series.only is not None:
            series.open = series.only.depth.copy()
        if len(place.names) < MOST_NAMES:
            region = place.names[name] = NamedRegion(len(self.regions), series, name)
            series.only = region if series.names == 1 else None
        elif series.others is not None:
            return series.others
        else:
            region = series.others = NamedRegion(len(self.regions), series, pattern, is_pattern=True)
        self.regions.append(region)
        return region


def recording_values(
    path: str, is_of_script: bool, records_cuda: bool, entries: Dict[str, List[Any]], still_open: Dict[int, int]
) -> Dict[str, Any]:
    """What the log says of one recording; `still_open` counts the calls of each region that did not end in it."""
    return {
        "trace": os.path.basename(path),
        "is_of_script": is_of_script,
        "records_cuda": records_cuda,
        "entries": entries,
        "still_open": [[region, calls] for region, calls in still_open.items()],
    }
