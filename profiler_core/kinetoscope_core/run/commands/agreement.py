"""Brings the ranks of a command to one end: no rank alone holds its window open, and all end at one call of a region.

Asks and proposes; `runner/ending/together.py` answers. A call is agreed on when no rank had come to it; a rank that
comes to it earlier waits for that.
"""

import os
import time
from collections.abc import Mapping, Sequence
from typing import Any, Literal

from kinetoscope_core import log_file
from kinetoscope_core.run.commands.process import Member
from kinetoscope_core.run.line import Message

LOOKS_EVERY_S = 1.0
"""How often ranks that record are asked what they wait for."""

GRACE_S = 15.0
"""So long ranks that have enough wait for one that has entered no region yet."""

REACHED_WITHIN_S = 60.0
"""So long at least they may take to the call that was agreed on, and at most as long as all that they did before."""

_OF_LAUNCHERS = ("RANK", "SLURM_PROCID", "OMPI_COMM_WORLD_RANK", "PMI_RANK")
_FIRST_MARGIN = 2
_AHEAD = 2
"""So many calls one rank may be ahead of another, or the twentieth part of all."""

Why = Literal["", "absent", "gone", "no common region", "not reached"]


class Agreement:
    """Follows the ranks. `step` is called again and again; `has_failed` says why there is no end that all can share."""

    def __init__(self, members: Sequence[Member], *, may_close: bool) -> None:
        self._members = members
        self._may_close = may_close
        self._began = time.monotonic()
        self._number = 0
        self._asked: Literal["", "stand", "end_at"] = ""
        self._looked_at = 0.0
        self._all_have_enough_since: float | None = None
        self._alone_before: dict[int, frozenset[str]] = {}
        self._margin = _FIRST_MARGIN
        self._proposed = 0
        self.agreed_at: float | None = None
        self.has_failed: Why = ""

    def step(self) -> None:
        """Asks, proposes or agrees, as far as answers have come."""
        ranks = [each for each in self._members if each.is_rank]
        live = [each for each in ranks if not each.is_gone]
        if not live or self.has_failed or _are_elsewhere(ranks):
            return
        now = time.monotonic()
        if self.agreed_at is not None:
            may_take = max(REACHED_WITHIN_S, self.agreed_at - self._began)
            if now - self.agreed_at > may_take:
                self.has_failed = "not reached"
            return
        if not all("enough" in each.said for each in live):
            self._all_have_enough_since = None
            if self._may_close and len(live) == _expected(ranks) and now - self._looked_at > LOOKS_EVERY_S:
                self._look(live, now)
            return
        since = self._all_have_enough_since = self._all_have_enough_since or now
        if len(live) < _expected(ranks):
            if now - since > GRACE_S:
                self.has_failed = "absent" if len(ranks) < _expected(ranks) else "gone"
            return
        self._propose(live, now)

    # --- a window that one rank alone holds open

    def _look(self, live: Sequence[Member], now: float) -> None:
        if self._asked != "stand":
            self._ask("stand", live)
            return
        answers = self._answers("stands", live)
        if answers is None:
            return
        self._asked, self._looked_at = "", now
        common, entered_by = _places(answers)
        for member, answer in zip(live, answers, strict=True):
            waits = [_key_within(span, entered_by) for span in answer["waiting"]]
            alone = frozenset(key for key in waits if key is not None and entered_by[key] == 1)
            is_held = bool(common) and bool(waits) and alone.issuperset(waits)
            if is_held and self._alone_before.get(id(member)) == alone:
                log_file.note("%s waits for what no other rank enters: %s", member.name, ", ".join(sorted(alone)))
                member.send({"do": "close"})
            self._alone_before[id(member)] = alone if is_held else frozenset()

    # --- the end

    def _propose(self, live: Sequence[Member], now: float) -> None:
        if not self._asked:
            self._ask("stand", live)
        elif self._asked == "stand":
            answers = self._answers("stands", live)
            if answers is None:
                return
            place = _shared_place(answers)
            if place is None:
                self._asked = ""
                if now - (self._all_have_enough_since or now) > GRACE_S:
                    self.has_failed = "no common region"
                return
            self._place = place
            self._end_at(live, max(each["calls"][self._place] for each in answers))
        else:
            answers = self._answers("proposed", live)
            if answers is None:
                return
            furthest = max(each["calls"] for each in answers)
            if furthest >= self._proposed:
                self._margin *= 2
                self._end_at(live, furthest)
                return
            for each in live:
                each.send({"do": "agreed"})
            self.agreed_at = now
            log_file.note("all ranks end at call %d of %s", self._proposed, self._place)

    def _end_at(self, live: Sequence[Member], furthest: int) -> None:
        self._proposed = furthest + self._margin
        self._ask("end_at", live, place=self._place, call=self._proposed)

    def _ask(self, what: Literal["stand", "end_at"], live: Sequence[Member], **values: object) -> None:
        self._asked = what
        self._number += 1
        for each in live:
            each.send({"do": what, "number": self._number, **values})

    def _answers(self, event: str, live: Sequence[Member]) -> list[Message] | None:
        """Of all to the last question; None as long as one has not answered."""
        answers = [each.said.get(event, {}) for each in live]
        return answers if all(each.get("number") == self._number for each in answers) else None


def _expected(ranks: Sequence[Member]) -> int:
    return max(each.hello["world_size"] for each in ranks)


def _are_elsewhere(ranks: Sequence[Member]) -> bool:
    """Whether some may not be of this command: then those that are cannot agree on anything.

    A launcher has said so, or has started us.
    """
    return any(name in os.environ for name in _OF_LAUNCHERS) or any(
        0 < each.hello["local_world_size"] < each.hello["world_size"] for each in ranks
    )


def _places(answers: Sequence[Message]) -> tuple[set[str], dict[str, int]]:
    """The places that all have entered, and for each place how many have."""
    entered_by: dict[str, int] = {}
    for each in answers:
        for key in each["calls"]:
            entered_by[key] = entered_by.get(key, 0) + 1
    return {key for key, count in entered_by.items() if count == len(answers)}, entered_by


def _shared_place(answers: Sequence[Message]) -> str | None:
    """The place whose calls mean the same to all ranks: as many on each, but for those that are ahead by a few.

    Of several the most frequent one, which comes soonest.
    """
    least: dict[str, int] = {}
    for key in _places(answers)[0]:
        calls = [each["calls"][key] for each in answers]
        if max(calls) - min(calls) <= max(_AHEAD, max(calls) // 20):
            least[key] = min(calls)
    return max(least, key=lambda key: least[key], default=None)


def _key_within(span: Sequence[Any], entered_by: Mapping[str, int]) -> str | None:
    """The place in these lines that most ranks have entered; None if none has."""
    file, first, last = span
    keys = [f"{file}:{line}" for line in range(first, last + 1)]
    return max((key for key in keys if key in entered_by), key=lambda key: entered_by[key], default=None)
