"""What to run: a script or module with its arguments, in which interpreter, and how much of it to measure."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

DEFAULT_WARMUP = 3
DEFAULT_ACTIVE = 5
DEFAULT_BUDGET_S = 20.0
"""Long enough for eight steps of most training loops; a longer window makes traces of gigabytes."""


@dataclass(frozen=True, slots=True)
class Span:
    """Lines of a file, from 1, both ends included."""

    file: str
    first: int
    last: int


@dataclass(frozen=True, slots=True)
class Focus:
    """The one region that is measured: by the name it has when it runs, or by its place."""

    name: str = ""
    places: tuple[Span, ...] = ()


@dataclass(frozen=True, slots=True)
class RunConfig:
    """One run. `script` is a path, or a module's name where `is_module`; `environment` is added to our own.

    `warmup` calls of a region are run and not measured, then at least `active` are measured. `budget_s` bounds the
    measured window, `time_limit_s` the whole run (`None`: no limit); with `to_the_end` the script is never ended early.
    """

    interpreter: str
    script: str
    is_module: bool = False
    arguments: tuple[str, ...] = ()
    folder: Path | None = None
    environment: Mapping[str, str] = field(default_factory=dict[str, str])
    warmup: int = DEFAULT_WARMUP
    active: int = DEFAULT_ACTIVE
    focus: Focus | None = None
    known_places: tuple[Span, ...] = ()
    to_the_end: bool = False
    budget_s: float = DEFAULT_BUDGET_S
    time_limit_s: float | None = None
