"""Which passages are measured: when the window opens and when it is full. Pure decisions, no profiler, no clock.

Without a focus the window opens at the first region and is full when every known region has had `warmup + active`
passages. With a focus it opens for the last warm-up passage of that region, so that what each thread waits for once
under a profiler (2-3.5 ms for its first buffer, facts/gpu.md) lies in a passage that is not measured.
"""

import os
from typing import Any, Dict, List, Set

from .regionlog import NamedRegion, Place

PATIENCE = 20
"""A region that lags is waited for until another has had this many times the passages that are needed.

Else one region at start-up (`load_model`) would keep the profiler on for a whole training run: 300 steps of a small
loop are a trace of 185 MB.
"""

MANY_NAMES = 64
"""So many passages of one place, each with a name of its own, are numbered steps rather than the layers of a model."""


class Plan:
    """What the starting program asked for, as it came over the channel."""

    def __init__(self, message: Dict[str, Any]) -> None:
        self.warmup: int = message["warmup"]
        self.active: int = message["active"]
        self.to_the_end: bool = message["to_the_end"]
        self.budget_s: float = message["budget_s"]
        self.focus_name: str = message["focus_name"]
        self.focus_places: List[Span] = [Span(*span) for span in message["focus_places"]]
        self.known_places: List[Span] = [Span(*span) for span in message["known_places"]]

    @property
    def has_focus(self) -> bool:
        return bool(self.focus_name or self.focus_places)


class Span:
    """Lines of a file, from 1, both ends included."""

    def __init__(self, file: str, first: int, last: int) -> None:
        self.file = os.path.realpath(file)
        self.first = first
        self.last = last

    def holds(self, place: Place) -> bool:
        return self.first <= place.line <= self.last and os.path.realpath(place.file) == self.file


class Window:
    """Follows the passages of all regions. `should_open` and `is_full` are asked at each entry and exit."""

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        self.is_full = False
        self._is_open = False
        self._not_reached = list(plan.known_places)
        self._incomplete: Set[Place] = set()
        self._seen: Set[Place] = set()
        self._focused: Dict[Place, bool] = {}
        self._focus_finished: Dict[NamedRegion, int] = {}

    def is_focus(self, region: NamedRegion) -> bool:
        plan = self.plan
        if plan.focus_name:
            return region.name == plan.focus_name
        place = region.place
        if place not in self._focused:
            self._focused[place] = any(span.holds(place) for span in plan.focus_places)
        return self._focused[place]

    def should_open(self, region: NamedRegion, passage: int) -> bool:
        """Whether to open at this entry. `passage` counts the earlier entries of the region in this process."""
        if self.plan.has_focus:
            if not self.is_focus(region) or region.is_nested_in_itself():
                return False
            place = region.place
            is_warm = passage >= self.plan.warmup - 1
            is_numbered = len(place.names) >= MANY_NAMES and len(place.names) == place.finished + 1
            self._is_open = is_warm or is_numbered
        else:
            self._is_open = True
        return self._is_open

    def note_entry(self, region: NamedRegion) -> None:
        """Without a focus: a place that is seen for the first time is waited for."""
        place = region.place
        if place in self._seen:
            return
        self._seen.add(place)
        self._incomplete.add(place)
        self._not_reached = [span for span in self._not_reached if not span.holds(place)]

    def note_exit(self, region: NamedRegion) -> None:
        """Sets `is_full` when this exit was the last one to wait for."""
        if self.is_full or not self._is_open or self.plan.to_the_end:
            return
        if self.plan.has_focus:
            self._note_focus_exit(region)
        else:
            self._note_any_exit(region.place)

    def _note_focus_exit(self, region: NamedRegion) -> None:
        if not self.is_focus(region) or region.is_open_here():
            return
        finished = self._focus_finished
        finished[region] = finished.get(region, 0) + 1
        # The window opened for a warm-up passage where there are any.
        needed = self.plan.active + (1 if self.plan.warmup else 0)
        self.is_full = _has_had(sum(finished.values()), len(finished), needed)

    def _note_any_exit(self, place: Place) -> None:
        needed = self.plan.warmup + self.plan.active
        if place in self._incomplete and _has_had(place.finished, len(place.names), needed):
            self._incomplete.discard(place)
        is_waiting = bool(self._incomplete or self._not_reached)
        lag = place.finished / max(1, len(place.names) if len(place.names) < place.finished else 1)
        self.is_full = not is_waiting or lag >= PATIENCE * needed

    def describe(self) -> Dict[str, int]:
        """How far it is: places that are complete, seen and never reached."""
        return {
            "complete": len(self._seen) - len(self._incomplete),
            "seen": len(self._seen),
            "not_reached": len(self._not_reached),
        }


def _has_had(passages: int, names: int, needed: int) -> bool:
    """Whether a place was passed `needed` times with each of its names."""
    if names <= 1:
        return passages >= needed
    if names == passages:
        return passages >= max(needed, MANY_NAMES)
    return passages >= needed * names
