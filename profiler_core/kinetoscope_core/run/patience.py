"""How a run's end is waited for: the states it goes through, how long each may last, and what is said of it."""

from typing import Literal

State = Literal["starting", "running", "unheard", "asked", "caught", "leaving", "going on", "saving"]
"""Where a run is, as far as its end goes: `unheard` once the script has closed the line to us, `asked` when it was told
to stop and has not answered, `caught` when its main thread is still in the call in which the end found it, `leaving`
while it does its own clean-up, `going on` when it takes no notice of its end."""

PATIENCE_S: dict[State, float] = {
    "starting": 300.0,
    "asked": 60.0,
    "caught": 30.0,
    "leaving": 900.0,
    "going on": 10.0,
    "saving": 900.0,
}
"""How long each may last, if nobody cancels; a script that runs may run. A trace of 130 MB is saved in 5 to 10 s."""

ABANDONED_S = 20.0
"""The same, for a script that leaves when the editor has gone: nobody sees it, or could end it."""

SHOWN_AFTER_S = 1.0
"""So long the result waits for a script that leaves, since most are quick."""

CUT_AFTER_S = 1.0
"""A process that has closed its line and lives on so long has not closed it by ending."""

TOLD_AFTER_S: dict[State, float] = {
    "unheard": CUT_AFTER_S,
    "asked": 2.0,
    "caught": 1.0,
    "leaving": 1.0,
    "going on": 1.0,
}
_TEXTS: dict[State, str] = {
    "unheard": "the script closed the connection to Kinetoscope and runs on unmeasured",
    "asked": "waiting for the script to react to the request to end",
    "caught": "waiting for the script to return from a call",
    "leaving": "waiting for the script's own clean-up",
    "going on": "the script was asked to end and still runs",
}
EXIT_TOLD_AFTER_S = 5.0
"""A Python with torch takes up to 4 s to end on a busy machine."""

HEARS_WITHIN_S = 2.0
"""A second cancel waits so long for the answer to the first: what is measured may just begin to be saved."""


def most_s(state: State, *, is_seen: bool) -> float:
    """How many seconds a run may stay in this state; `is_seen`: by somebody who could end it."""
    if state == "saving" or is_seen:
        return PATIENCE_S.get(state, float("inf"))
    return ABANDONED_S


def told_after_s(state: State, *, has_said_all: bool) -> float:
    """After how many seconds in this state that is told. `has_said_all`: only the process has yet to end."""
    if state == "leaving" and has_said_all:
        return EXIT_TOLD_AFTER_S
    return TOLD_AFTER_S.get(state, float("inf"))


def text_of(state: State, *, is_seen: bool) -> str:
    """What is told of this state."""
    return _TEXTS[state] + ("; a second Ctrl-C or cancel ends it" if is_seen else "")


def why_given_up(state: State, *, is_seen: bool) -> str:
    """Why the script was ended in this state, once its time was over."""
    what = {
        "leaving": "its own clean-up took longer than",
        "going on": "it went on, though it was asked to end, for",
        "caught": "it did not return from a call for",
        "saving": "saving the trace took longer than",
    }
    return f"{what.get(state, 'it did not answer for')} {most_s(state, is_seen=is_seen):g} s"
