"""What is to run and how much of it is measured, from the click or the command line to the runner.

A `NamedTuple`, as `dataclasses` would load modules into the script's process that a plain `python` has not.
"""

from types import MappingProxyType
from typing import Any, Dict, Mapping, NamedTuple, Optional, Tuple

NO_VARIABLES: Mapping[str, str] = MappingProxyType({})


class Span(NamedTuple):
    """Lines of a file, from 1, both ends included."""

    file: str
    first: int
    last: int


class ModuleChoice(NamedTuple):
    """Which modules get a region (`--modules`): those of the `classes`, and where none is given, those that stand no
    deeper than `depth` below the outermost one that is called; with None, so many that a reader can take them in.
    """

    depth: Optional[int] = None
    classes: Tuple[str, ...] = ()


class RunRequest(NamedTuple):
    """One run. Who starts it knows the first fields; `profile` adds the last ones, from the sources.

    `script` is a path, or a module's name where `is_module`, or a program of any kind where `is_command`. `interpreter`
    is None until one is chosen, for which `top` says how far up a `.venv` is looked for. `environment` is added to our
    own, above the variables of `env_file`. `region` is NAME or FILE:LINE, and None where all are measured.

    `warmup` calls of a region are run and not measured, then at least `active` are measured. `budget_s` bounds the
    time under the profiler in s, `time_limit_s` that of the whole run (None: no limit); with `to_the_end` the script is
    never ended early.

    `is_plain`: not in a prepared interpreter. `waits_until_prepared`: for one that is being prepared longer than a new
    one takes, too, since a run in that would be no sample of the same. `prepares_next`: one is made ready for the next
    run, with torch and `packages`.
    """

    script: str
    is_module: bool = False
    arguments: Tuple[str, ...] = ()
    interpreter: Optional[str] = None
    top: Optional[str] = None
    folder: Optional[str] = None
    environment: Mapping[str, str] = NO_VARIABLES
    env_file: Optional[str] = None
    region: Optional[str] = None
    warmup: int = 3
    active: int = 5
    to_the_end: bool = False
    budget_s: float = 20.0  # enough for eight steps of most training loops; more makes traces of gigabytes
    time_limit_s: Optional[float] = None
    is_plain: bool = False
    waits_until_prepared: bool = False
    prepares_next: bool = False
    packages: Tuple[str, ...] = ()
    is_command: bool = False
    modules: Optional[ModuleChoice] = None
    """With it, the modules that are called are regions, too."""
    focus_name: str = ""
    """The one region that is measured, by the name it has when it runs; or by its places."""
    focus_places: Tuple[Span, ...] = ()
    known_places: Tuple[Span, ...] = ()
    marks_nothing: bool = False
    """Whether the script's source names neither regions nor what has steps: all that it runs is recorded then."""

    @property
    def has_focus(self) -> bool:
        return bool(self.focus_name or self.focus_places)

    def as_dict(self) -> Dict[str, Any]:
        """As JSON has it."""
        modules = self.modules and self.modules._asdict()
        return {**self._asdict(), "environment": dict(self.environment), "modules": modules}

    @classmethod
    def of(cls, values: Mapping[str, Any]) -> "RunRequest":
        """From the JSON of what `as_dict` gave."""
        given = dict(values)
        for name in ("arguments", "packages"):
            given[name] = tuple(given[name])
        for name in ("focus_places", "known_places"):
            given[name] = tuple(Span(*each) for each in given[name])
        modules = given.get("modules")
        if modules is not None:
            given["modules"] = ModuleChoice(modules["depth"], tuple(modules["classes"]))
        return cls(**given)
