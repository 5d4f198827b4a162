"""What a click on Profile runs: again what gave the times that are shown there; else what was run last for the file in
this session; else what the settings say. A setting that was changed since then goes before what was run with it.
"""

from collections.abc import Sequence
from dataclasses import replace

from kinetoscope_core.source.regions import Region
from kinetoscope_server.results.by_file import Placed, Shown
from kinetoscope_server.runs.command import Command, is_executable

_MOST_RECENT = 50


class Commands:
    """What was run: in this session, and what gave the results that are known. With each goes what the settings said of
    the file when it began, or when they were first asked about it.
    """

    def __init__(self) -> None:
        self._last: dict[str, tuple[Command, Command]] = {}
        self._said: dict[str, Command] = {}
        self._said_first: dict[str, Command] = {}
        self._recent: list[Command] = []

    @property
    def recent(self) -> Sequence[Command]:
        """What was run, the newest last."""
        return self._recent

    def begins(self, path: str, command: Command, said: Command) -> None:
        """Notes a run for a file."""
        self._last[path] = command, said
        self._note(command)

    def has_result(self, path: str, shown: Shown) -> None:
        """Notes what the last run for a file has come to."""
        self._said[shown.run] = self._last[path][1]

    def recalled(self, shown: Shown) -> None:
        """Notes a result of an earlier session, or of the command; the oldest first."""
        if shown.result.run is not None:
            self._note(Command.of_run(shown.result.run))

    def again(self, path: str, shown: Shown | None, now: Command, *, prefers_last: bool = False) -> Command:
        """What a click in the file runs, where `shown` has the times there and the settings say `now`."""
        said, last = self._said_first.setdefault(path, now), self._last.get(path)
        if shown is not None and shown.result.run is not None and not (prefers_last and last is not None):
            return _with_changes(Command.of_run(shown.result.run), self._said.get(shown.run, said), now)
        return now if last is None else _with_changes(*last, now)

    def _note(self, command: Command) -> None:
        self._recent = [*(each for each in self._recent[-_MOST_RECENT:] if each != command), command]


def gave_the_times(placed: Sequence[Placed], region: Region | None) -> Shown | None:
    """The result of a run that is shown at the region; else the newest that is shown in its file."""
    runs = [each for each in placed if each.measured.shown.result.run is not None]
    here = [each for each in runs if region is not None and each.region.line == region.line]
    found = (each.measured.shown for each in here or runs)
    return max(found, key=lambda shown: shown.result.run.started if shown.result.run else "", default=None)


def _with_changes(ran: Command, said: Command, now: Command) -> Command:
    """What ran, with that of the settings which is no longer as it was `said` then."""
    if (said.script, said.is_module) != (now.script, now.is_module):
        return now
    names = ("arguments", "environment", "interpreter", "folder")
    changed = {name: getattr(now, name) for name in names if getattr(now, name) != getattr(said, name)}
    if not is_executable(ran.interpreter):
        changed["interpreter"] = now.interpreter
    found = replace(ran, **changed)
    return found if found.is_there else now
