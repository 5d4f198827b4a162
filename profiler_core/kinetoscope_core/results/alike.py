"""Which stored runs ran the same, and what a run's baseline is. Read from what results say of their runs, no more."""

from collections.abc import Hashable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import msgspec

from kinetoscope_core.errors import UsageError
from kinetoscope_core.results.measures import Device
from kinetoscope_core.results.result import SCHEMA, RunInfo
from kinetoscope_core.results.store import Store, StoredRun
from kinetoscope_core.source.placement import Fingerprint, matched

MOST_ALIKE = 20

_Sources = dict[str, tuple[Fingerprint, ...]]


class _Head(msgspec.Struct):
    schema: int
    run: RunInfo | None
    device: Device | None
    torch: str | None
    sources: msgspec.Raw = msgspec.Raw(b"{}")


@dataclass(frozen=True, slots=True)
class Focus:
    """The region that was measured alone: the regions of its file as they stood, and which of them are at its line."""

    prints: tuple[Fingerprint, ...]
    here: frozenset[int]

    def is_same(self, other: "Focus") -> bool:
        """Whether the other one is this region, also where its line, name or code is another by now."""
        now = matched(self.prints, other.prints)
        return frozenset(now[index] for index in self.here if index in now) == other.here


@dataclass(frozen=True, slots=True)
class Ran:
    """A stored run, and what it ran on what. Without `focus` no place is known of a region that was measured alone."""

    stored: StoredRun
    run: RunInfo
    device: Device | None
    torch: str | None
    focus: Focus | None = None

    @property
    def command(self) -> Hashable:
        """What ran."""
        run = self.run
        script = run.script if run.is_module or run.is_command else str(Path(run.folder or ".", run.script).absolute())
        how = run.is_module, run.is_command, run.env_file, run.modules
        return script, run.arguments, tuple(sorted(run.environment.items())), how

    def is_like(self, other: "Ran") -> bool:
        """Whether the same was asked for, so that the two are before and after of each other."""
        if self.command != other.command:
            return False
        if self.focus is None or other.focus is None:
            return self.run.region == other.run.region
        return self.focus.is_same(other.focus)

    @property
    def sample(self) -> Hashable | None:
        """What processes have in common that are samples of one thing; None where the code is not known for sure."""
        run = self.run
        if not run.code or not all(run.code.values()):
            return None
        code = tuple(sorted(run.code.items()))
        device = self.device and self.device.name
        how = run.interpreter, run.python, self.torch, device, run.warmup, run.active, run.is_prepared
        return self.command, run.region, code, how


class History:
    """The stored runs of scripts, the newest first, each read once."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._runs: dict[str, Ran | None] = {}

    def runs(self) -> Iterator[Ran]:
        """Those that can be read. Traces from elsewhere are no runs."""
        for stored in self._store.runs():
            if stored.id not in self._runs:
                self._runs[stored.id] = _ran(stored)
            found = self._runs[stored.id]
            if found is not None:
                yield replace(found, stored=stored)

    def ran(self, run: str) -> Ran | None:
        """The run of that id, None where it is of traces, or cannot be read."""
        return next((each for each in self.runs() if each.stored.id == run), None)

    def alike(self, ran: Ran) -> list[Ran]:
        """The processes that the run is one sample of, itself first, at most `MOST_ALIKE`."""
        others = [each for each in self.runs() if each.stored.id != ran.stored.id and each.sample == ran.sample]
        return [ran, *(others if ran.sample is not None else ())][:MOST_ALIKE]

    def baseline_of(self, ran: Ran) -> Ran | None:
        """What the run is compared with: of its command the pinned run, else the newest before it of another code."""
        earlier = [each for each in self.runs() if each.is_like(ran) and each.stored.id < ran.stored.id]
        pinned = self.pinned_of(ran)
        if pinned is not None:
            is_it = pinned.stored.id == ran.stored.id or (pinned.sample is not None and pinned.sample == ran.sample)
            return None if is_it else pinned
        known = [each for each in earlier if ran.sample is not None and each.sample is not None]
        return next((each for each in known if each.run.code != ran.run.code), None)

    def pinned_of(self, ran: Ran) -> Ran | None:
        """The run that is pinned as the baseline of the command, which may be the run itself."""
        return next((each for each in self.runs() if each.stored.is_baseline and each.is_like(ran)), None)

    def pin_baseline(self, ran: Ran) -> None:
        """Makes the run the baseline of its command, in place of another. Raises `UsageError`."""
        for each in self.runs():
            if each.stored.is_baseline and each.is_like(ran) and each.stored.id != ran.stored.id:
                self._store.mark_baseline(each.stored.id, is_baseline=False)
        self._store.mark_baseline(ran.stored.id, is_baseline=True)

    def unpin_baseline(self, ran: Ran) -> None:
        """The run before the source changed is the baseline again. Raises `UsageError`."""
        self._store.mark_baseline(ran.stored.id, is_baseline=False)


def _ran(stored: StoredRun) -> Ran | None:
    try:
        head = msgspec.json.decode(stored.text(), type=_Head)
        if head.schema != SCHEMA or head.run is None:
            return None
        return Ran(stored, head.run, head.device, head.torch, _focus(head.run, head.sources))
    except (UsageError, msgspec.DecodeError):
        return None


def _focus(run: RunInfo, sources: msgspec.Raw) -> Focus | None:
    """Where the region stood that was measured alone."""
    if run.region is None:
        return None
    file, _, line = run.region.rpartition(":")
    prints = msgspec.json.decode(sources, type=_Sources).get(file, ())
    here = frozenset(index for index, each in enumerate(prints) if str(each.line) == line)
    return Focus(prints, here) if here else None
