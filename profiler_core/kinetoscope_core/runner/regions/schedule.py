"""Which calls are measured: when the recording starts and when it is full. Pure decisions, no profiler, no clock.

Without a focus it starts at the first region and is full when every region, each name at each place, has had
`warmup + active` calls. With a focus it starts at the last warm-up call of that region, so that what each thread waits
for once under a profiler (2-3.5 ms for its first buffer, facts/gpu.md) lies in a call that is not measured; and at its
first one where no other will come.
"""

import os
from typing import Any, Callable, Dict, Iterable, List, Set

from ..request import RunRequest, Span
from .log import NamedRegion, Place, Series

PATIENCE = 20
"""A region that lags is waited for until all others have had this many times the calls that are needed.

Else one region at start-up (`load_model`) would keep the profiler on for a whole training run: 300 steps of a small
loop are a trace of 185 MB.
"""

PATIENCE_INSIDE = 4 * PATIENCE
"""The same while a call is open that holds the others: its end may bring regions that have not been seen."""

MANY_NAMES = 64
"""So many names that differ in their numbers, each called once, are numbered steps rather than layers of a model."""


def _holds(span: Span, place: Place) -> bool:
    """Whether the place, or the line of a helper that it is entered through, is one of these."""
    return any(span.first <= line <= span.last and os.path.realpath(file) == span.file for file, line in place.stands())


def _real(spans: Iterable[Span]) -> List[Span]:
    return [span._replace(file=os.path.realpath(span.file)) for span in spans]


class Schedule:
    """Follows the calls of all regions. `should_start` and `is_full` are asked at each entry and exit."""

    def __init__(self, request: RunRequest) -> None:
        self._request = request
        self._focus_places = _real(request.focus_places)
        self.is_full = False
        self._is_recording = False
        self._not_reached = _real(request.known_places)
        self._incomplete: Dict[Series, Set[NamedRegion]] = {}
        self._seen: Set[NamedRegion] = set()
        self._places: Set[Place] = set()
        self._focused: Dict[Place, bool] = {}
        self._focus_finished: Dict[NamedRegion, int] = {}
        self._starts_at_once = False

    def is_focus(self, region: NamedRegion) -> bool:
        if self._request.focus_name:
            return region.name == self._request.focus_name
        place = region.place
        if not place.is_settled:
            return any(_holds(span, place) for span in self._focus_places)
        if place not in self._focused:
            self._focused[place] = any(_holds(span, place) for span in self._focus_places)
        return self._focused[place]

    def should_start(self, region: NamedRegion, call: int, comes_again: Callable[[], bool]) -> bool:
        """Whether to start at this entry. `call` counts the earlier entries of the region in this process.

        `comes_again` says whether the code that enters it may run a second time.
        """
        if self._request.has_focus:
            if not self.is_focus(region) or region.is_nested_in_itself():
                return False
            series = region.series
            is_warm = call >= self._request.warmup - 1
            is_numbered = series.names >= MANY_NAMES and series.has_each_once()
            self._starts_at_once = not is_warm and not call and not comes_again()
            self._is_recording = is_warm or is_numbered or self._starts_at_once
        else:
            self._is_recording = True
        return self._is_recording

    def note_entry(self, region: NamedRegion) -> None:
        """Without a focus: a region that is seen for the first time is waited for."""
        if region in self._seen:
            return
        self._seen.add(region)
        if not self._is_of_steps(region.series):
            self._incomplete.setdefault(region.series, set()).add(region)
        if region.place not in self._places:
            self._places.add(region.place)
            self._not_reached = [span for span in self._not_reached if not _holds(span, region.place)]

    def note_exit(self, region: NamedRegion, *, is_inside: bool) -> None:
        """Sets `is_full` when this exit was the last one to wait for. `is_inside`: other regions are open still."""
        if self.is_full or not self._is_recording or self._request.to_the_end:
            return
        if self._request.has_focus:
            self._note_focus_exit(region)
        else:
            self._note_any_exit(region, is_inside)

    def _note_focus_exit(self, region: NamedRegion) -> None:
        if not self.is_focus(region) or region.is_open_here():
            return
        finished = self._focus_finished
        finished[region] = finished.get(region, 0) + 1
        # The recording began with a warm-up call where there are any.
        warmup = self._request.warmup
        needed = self._request.active + (warmup if self._starts_at_once else min(warmup, 1))
        calls, names = sum(finished.values()), len(finished)
        if names == calls and names > 1:
            needed = max(needed, MANY_NAMES)
        elif names > 1:
            needed *= names
        self.is_full = calls >= needed

    def _note_any_exit(self, region: NamedRegion, is_inside: bool) -> None:
        needed = self._request.warmup + self._request.active
        # What a helper is called with next is not known before one of its names has come again.
        enough = max(needed, 2) if region.place.is_behind_a_helper else needed
        series = region.series
        waiting = self._incomplete.get(series)
        if waiting is not None:
            if region.finished >= enough:
                waiting.discard(region)
            if not waiting or (self._is_of_steps(series) and series.finished >= needed):
                del self._incomplete[series]
        if not self._incomplete and not self._not_reached:
            self.is_full = True
            return
        calls = series.finished if series.has_each_once() else region.finished
        if calls % needed == 0:
            self.is_full = self._is_out_of_patience((PATIENCE_INSIDE if is_inside else PATIENCE) * needed)

    def _is_out_of_patience(self, limit: int) -> bool:
        """Whether all that is complete has been called so often that the rest will not come."""
        complete = [region for region in self._seen if region not in self._incomplete.get(region.series, ())]
        calls = [region.series.finished if region.series.has_each_once() else region.finished for region in complete]
        if not calls:  # steps inside one call of another region
            calls = [series.finished for series in self._incomplete if series.has_each_once()]
        return bool(calls) and min(calls) >= limit

    def waits_for(self) -> List[List[Any]]:
        """The lines that keep it from being full, each as file, first and last; those of the focus are not known."""
        lacking = [series.place for series in list(self._incomplete)]
        spans = [Span(place.file, place.line, place.line) for place in lacking if place.is_settled]
        return [list(span) for span in (*spans, *self._not_reached)]

    def _is_of_steps(self, series: Series) -> bool:
        """Whether its names are numbered steps: many, each called once, and not all inside one call of another."""
        return series.names >= MANY_NAMES and series.has_each_once() and not series.is_in_first_outer

    def describe(self) -> Dict[str, int]:
        """How far it is: regions that are complete, seen and never reached."""
        return {
            "complete": len(self._seen) - sum(map(len, self._incomplete.values())),
            "seen": len(self._seen),
            "not_reached": len(self._not_reached),
        }
