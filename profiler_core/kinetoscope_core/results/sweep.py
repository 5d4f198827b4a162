"""What a sweep measured, as plain values and as JSON (docs/measures.md, "Sweeps"), and the sweeps that are kept.

A sweep runs a script once for each setting of a grid, by turns. All times are integer nanoseconds of one call, as in
`results/comparison.py`. `None` means "not measured", never zero.
"""

import contextlib
import secrets
from collections.abc import Sequence
from dataclasses import dataclass, fields
from datetime import datetime, timezone
from pathlib import Path
from typing import Final

import msgspec

from kinetoscope_core import __version__
from kinetoscope_core.errors import UsageError
from kinetoscope_core.results.as_json import as_json
from kinetoscope_core.results.comparison import Change
from kinetoscope_core.results.measures import Bound, Device
from kinetoscope_core.text import printable

SCHEMA: Final = 1
MOST_SWEEPS: Final = 50


@dataclass(frozen=True, slots=True)
class Axis:
    """What is varied: an argument of the script by its name, or an environment variable, and its values in order.

    The value `""` leaves it out, and `yes` is the bare flag of an argument.
    """

    name: str
    values: tuple[str, ...]
    is_environment: bool = False


@dataclass(frozen=True, slots=True)
class Setting:
    """One point of the grid: a value of each axis, in their order, and all `arguments` of the script.

    `runs` are the ids of its stored runs, the oldest first, `processes` how many were measured, and `failed` says why
    one could not be; such a setting is not run again.
    """

    values: tuple[str, ...]
    arguments: tuple[str, ...]
    runs: tuple[str, ...] = ()
    processes: int = 0
    failed: str | None = None


@dataclass(frozen=True, slots=True)
class Cell:
    """What one region took in one setting. Of each time `b` is this setting's and `a` that of the setting which the
    others are compared with; in that one itself `a` is `None`.

    `name` is the region's there. `launches` are of one call; `kernels` is how many different kernels and copies the
    median call has, `None` where it has too many to be kept.
    """

    name: str
    cpu_total_ns: Change
    cpu_self_ns: Change
    cuda_total_ns: Change | None
    cuda_self_ns: Change | None
    launches: int | None
    kernels: int | None
    bound: Bound | None


@dataclass(frozen=True, slots=True)
class SweptRegion:
    """A region in all settings, in their order: `None` where it was not measured. `line` is from 1."""

    name: str
    file: str | None
    line: int | None
    cells: tuple[Cell | None, ...]


@dataclass(frozen=True, slots=True)
class Sweep:
    """`script` and the fixed `arguments` are what ran, `repeat` times per setting unless it was cancelled.

    `base` is the index of the setting that the others are compared with, the first one that was measured and did not
    fail, else the first that was measured; `None` while there is none. `code_changed` names the user's files that were
    not the same in all runs.
    """

    id: str
    script: str
    is_module: bool
    arguments: tuple[str, ...]
    started: str
    repeat: int
    axes: tuple[Axis, ...]
    settings: tuple[Setting, ...]
    regions: tuple[SweptRegion, ...] = ()
    base: int | None = None
    device: Device | None = None
    torch: str | None = None
    code_changed: tuple[str, ...] = ()
    is_cancelled: bool = False


def setting_title(axes: Sequence[Axis], values: Sequence[str]) -> str:
    """A setting in a line: `size=64, no compile`, `size=64, compile`."""
    parts: list[str] = []
    for axis, value in zip(axes, values, strict=True):
        name = axis.name.lstrip("-")
        is_flag = value == "yes" and not axis.is_environment
        parts.append(f"no {name}" if not value else name if is_flag else f"{name}={value}")
    return printable(", ".join(parts))


def to_json(sweep: Sweep, *, is_indented: bool = False) -> bytes:
    """The sweep as one JSON object, schema 1."""
    values = {
        "schema": SCHEMA,
        "kinetoscope": __version__,
        **{each.name: getattr(sweep, each.name) for each in fields(sweep)},
    }
    return as_json(values, is_indented=is_indented)


class Sweeps:
    """The last sweeps of one user, `<root>/sweeps/<id>.json` each: `root` is that of the store, which has their runs.

    A table can be shown after its runs are gone.
    """

    def __init__(self, root: Path) -> None:
        self._folder = root / "sweeps"

    def new_id(self) -> str:
        """As ids of runs: later ones are greater."""
        return f"{datetime.now(timezone.utc).strftime('%Y%m%d-%H%M%S')}-{secrets.token_hex(3)}"

    def keep(self, sweep: Sweep) -> None:
        """Writes it in one step, also over an earlier state of it; then removes old ones. Raises `UsageError`."""
        file = self._folder / f"{sweep.id}.json"
        new = file.with_suffix(".new")
        try:
            self._folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            new.touch(mode=0o600)
            new.write_bytes(to_json(sweep))
            new.replace(file)
        except OSError as error:
            raise UsageError(f"The sweep could not be stored in {self._folder}: {error.strerror}.") from error
        for old in self.ids()[MOST_SWEEPS:]:
            with contextlib.suppress(OSError):
                (self._folder / f"{old}.json").unlink()

    def ids(self) -> list[str]:
        """Of all that are kept, the newest first."""
        return sorted((file.stem for file in self._folder.glob("*.json")), reverse=True)

    def sweep(self, name: str) -> Sweep:
        """The one of that id, or the `last`. Raises `UsageError`."""
        ids = self.ids()
        if name == "last" and not ids:
            raise UsageError("No sweep is stored yet. Make one: kinetoscope sweep SCRIPT --vary size=64,1024")
        wanted = ids[0] if name == "last" else name
        if wanted not in ids:
            stored = f"; stored are {', '.join(ids[:4])}{' and others' if len(ids) > 4 else ''}" if ids else ""
            raise UsageError(f"There is no stored sweep {printable(name)}{stored}.")
        file = self._folder / f"{wanted}.json"
        try:
            return _read(file.read_bytes())
        except (OSError, msgspec.DecodeError, msgspec.ValidationError) as error:
            raise UsageError(f"The stored sweep {wanted} cannot be read ({error}); delete {file}.") from error


class _Schema(msgspec.Struct):
    schema: int


def _read(text: bytes) -> Sweep:
    schema = msgspec.json.decode(text, type=_Schema).schema
    if schema != SCHEMA:
        raise UsageError(f"This is a sweep of schema {schema}, not {SCHEMA}; measure again.")
    return msgspec.json.decode(text, type=Sweep)
