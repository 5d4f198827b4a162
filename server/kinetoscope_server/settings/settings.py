"""What users can set, read from whatever the client sends. Wrong values are named, and the default taken.

docs/lsp.md lists every setting; a test holds the list to this module.
"""

import fnmatch
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any, Final, Literal, cast

from kinetoscope_core.analysis.findings import RULES
from kinetoscope_core.runner.request import RunRequest

SECTION: Final = "kinetoscope"
_DEFAULTS: Final = RunRequest("")

HintStyle = Literal["total and self", "total", "lens", "off"]
Prepare = Literal["afterRun", "onOpen", "off"]
Severity = Literal["error", "warning", "information", "hint", "off"]
WhichFindings = Literal["all", "warnings", "off"]

_HINT_STYLES: Final = ("total and self", "total", "lens", "off")
_PREPARES: Final = ("afterRun", "onOpen", "off")
_SEVERITIES: Final = ("error", "warning", "information", "hint", "off")
_WHICH_FINDINGS: Final = ("all", "warnings", "off")

SEVERITIES: Final[Mapping[str, Severity]] = {
    **{rule.code: rule.severity for rule in RULES},
    "times": "hint",
    "region-not-reached": "information",
    "run-failed": "error",
    "run-problem": "warning",
    "expectation": "error",
    "same-name": "hint",
    "decorator-async": "warning",
    "decorator-generator": "warning",
    "decorator-recursive": "warning",
}
"""Every code of a diagnostic, with its severity as it comes; that of a finding is the highest that it can have."""


@dataclass(frozen=True, slots=True)
class RunSettings:
    """How files are run. `files` are patterns of paths, of which one must fit; empty fits every file.

    `script` or `module` is what runs in place of the file itself: a region of a module is reached by a program.
    """

    files: tuple[str, ...] = ()
    script: str | None = None
    module: str | None = None
    interpreter: str | None = None
    arguments: tuple[str, ...] | None = None
    environment: Mapping[str, str] = field(default_factory=dict[str, str])
    folder: str | None = None


@dataclass(frozen=True, slots=True)
class Settings:
    """All settings. The run settings that fit a file go over one another in their order, the general ones first."""

    interpreter: str | None = None
    arguments: tuple[str, ...] = ()
    environment: Mapping[str, str] = field(default_factory=dict[str, str])
    folder: str | None = None
    env_file: str = "${workspaceFolder}/.env"
    runs: tuple[RunSettings, ...] = ()
    warmup: int = _DEFAULTS.warmup
    active: int = _DEFAULTS.active
    to_the_end: bool = False
    budget_s: float = _DEFAULTS.budget_s
    time_limit_s: float | None = None
    prepare: Prepare = "afterRun"
    packages: tuple[str, ...] = ()
    hints: HintStyle = "total and self"
    lenses: bool = True
    findings: WhichFindings = "all"
    severities: Mapping[str, Severity] = field(default_factory=dict[str, "Severity"])
    perfetto: str = "https://ui.perfetto.dev"

    def severity_of(self, code: str, otherwise: Severity | None = None) -> Severity:
        """As it was set for the code; else `otherwise`, else as it comes."""
        return self.severities.get(code) or otherwise or SEVERITIES[code]

    def severity_of_finding(self, code: str, otherwise: Severity | None = None) -> Severity:
        """The same for what was found in a recording, of which the setting `findings` may want no or few."""
        severity = self.severity_of(code, otherwise)
        is_wanted = self.findings == "all" or (self.findings == "warnings" and severity in ("error", "warning"))
        return severity if is_wanted else "off"

    def run_settings(self, path: str, root: Path | None) -> RunSettings:
        """What holds for a run of the file. Relative patterns and paths start at `root`, the workspace's folder."""
        found = RunSettings((), None, None, self.interpreter, self.arguments, self.environment, self.folder)
        for each in self.runs:
            if each.files and not any(_fits(path, pattern, root) for pattern in each.files):
                continue
            given = {f.name: getattr(each, f.name) for f in fields(each) if getattr(each, f.name) is not None}
            given["environment"] = {**found.environment, **each.environment}
            found = replace(found, **given)
        return found


_MOST: Final = 1_000_000  # calls, or seconds


def _fits(path: str, pattern: str, root: Path | None) -> bool:
    if not Path(pattern).is_absolute():
        pattern = str((root or Path("/")) / pattern) if "/" in pattern else f"*/{pattern}"
    return fnmatch.fnmatchcase(path.replace("\\", "/"), pattern.replace("\\", "/"))


def read_settings(values: object) -> tuple[Settings, list[str]]:
    """The settings in a client's JSON, and a message for each that is wrong."""
    reading = _Reading()
    settings = reading.settings(values)
    return settings, reading.wrong


class _Reading:
    """One pass through a client's values. A null counts as not given: clients send it for what has no value."""

    def __init__(self) -> None:
        self.wrong: list[str] = []

    def settings(self, values: object) -> Settings:
        values = self._without_former(values)
        given = self._fields(
            values,
            "",
            {
                "interpreter": ("interpreter", self._text),
                "arguments": ("arguments", self._texts),
                "environment": ("environment", self._environment),
                "workingDirectory": ("folder", self._text),
                "envFile": ("env_file", self._text_or_none),
                "howFilesAreRun": ("runs", self._runs),
                "warmupCalls": ("warmup", self._count(0)),
                "measuredCalls": ("active", self._count(1)),
                "toTheEnd": ("to_the_end", self._switch),
                "budgetSeconds": ("budget_s", self._seconds),
                "timeLimitSeconds": ("time_limit_s", self._seconds),
                "prepare": ("prepare", self._choice(_PREPARES)),
                "prepared": ("packages", self._prepared),
                "hints": ("hints", self._choice(_HINT_STYLES)),
                "lenses": ("lenses", self._switch),
                "findings": ("findings", self._choice(_WHICH_FINDINGS)),
                "severities": ("severities", self._severities),
                "perfetto": ("perfetto", self._address),
            },
        )
        return Settings(**given)

    def _fields(
        self, values: object, prefix: str, known: Mapping[str, tuple[str, Callable[[str, object], Any]]]
    ) -> dict[str, Any]:
        if values is None or (prefix and values == []):  # Lua has one empty table: Neovim sends `{}` as a list
            return {}
        if not isinstance(values, dict):
            self._refuse(prefix.rstrip("."), "an object")
            return {}
        given: dict[str, Any] = {}
        for key, value in cast("dict[str, object]", values).items():
            if key not in known:
                self._refuse(prefix + key, f"one of the settings {', '.join(sorted(known))}", is_name=True)
            elif value is not None:
                name, read = known[key]
                result = read(prefix + key, value)
                if result is not None:
                    given[name] = result
        return given

    def _without_former(self, values: object) -> object:
        """A setting of 0.1.0 is told what has taken its place."""
        if isinstance(values, dict) and (given := cast("dict[str, object]", values)).get("warm") is not None:
            self.wrong.append(
                f'{SECTION}.warm is now {SECTION}.prepare, with "afterRun", "onOpen" or "off"; the default is used.'
            )
            return {name: value for name, value in given.items() if name != "warm"}
        return cast("object", values)

    def _prepared(self, name: str, value: object) -> tuple[str, ...] | None:
        return self._fields(value, name + ".", {"packages": ("packages", self._modules)}).get("packages")

    def _modules(self, name: str, value: object) -> tuple[str, ...] | None:
        texts = self._texts(name, value)
        if texts is None or all(part.isidentifier() for text in texts for part in text.split(".")):
            return texts
        return self._refuse(name, "a list of module names, as in an import")

    def _refuse(self, name: str, wanted: str, *, is_name: bool = False) -> None:
        full = f"{SECTION}.{name}" if name else SECTION
        if is_name:
            self.wrong.append(f"{full}: there is no such setting ({wanted}).")
        else:
            self.wrong.append(f"{full}: its value is not {wanted}; the default is used.")

    def _text(self, name: str, value: object) -> str | None:
        if isinstance(value, str):
            return value or None  # VS Code's settings page makes an empty text of what was deleted
        return self._refuse(name, "a string")

    def _address(self, name: str, value: object) -> str | None:
        if isinstance(value, str) and value.startswith(("http://", "https://")):
            return value.rstrip("/")
        return self._refuse(name, "an address that begins with http:// or https://")

    def _text_or_none(self, name: str, value: object) -> str | None:
        return value if isinstance(value, str) else self._refuse(name, "a string")

    def _texts(self, name: str, value: object) -> tuple[str, ...] | None:
        given: object = value
        if isinstance(given, list):
            items = cast("list[object]", given)
            texts = tuple(item for item in items if isinstance(item, str))
            if len(texts) == len(items):
                return texts
        return self._refuse(name, "a list of strings")

    def _environment(self, name: str, value: object) -> dict[str, str] | None:
        given: object = value
        if given == []:  # see _fields
            return {}
        if isinstance(given, dict):
            pairs = cast("dict[str, object]", given)
            texts = {key: text for key, text in pairs.items() if isinstance(text, str)}
            if len(texts) == len(pairs) and all(key and "=" not in key for key in texts):
                return texts
        return self._refuse(name, "an object of names and strings")

    def _runs(self, name: str, value: object) -> tuple[RunSettings, ...] | None:
        if not isinstance(value, list):
            return self._refuse(name, "a list")
        known: dict[str, tuple[str, Callable[[str, object], Any]]] = {
            "files": ("files", self._patterns),
            "script": ("script", self._text),
            "module": ("module", self._text),
            "interpreter": ("interpreter", self._text),
            "arguments": ("arguments", self._texts),
            "environment": ("environment", self._environment),
            "workingDirectory": ("folder", self._text),
        }
        items = cast("list[object]", value)
        runs = [RunSettings(**self._fields(item, f"{name}[{index}].", known)) for index, item in enumerate(items)]
        for index, run in enumerate(runs):
            if run.script and run.module:
                self.wrong.append(f"{SECTION}.{name}[{index}]: script and module cannot both be set; module is used.")
        return tuple(runs)

    def _patterns(self, name: str, value: object) -> tuple[str, ...] | None:
        return (value,) if isinstance(value, str) else self._texts(name, value)

    def _count(self, least: int) -> Callable[[str, object], int | None]:
        def read(name: str, value: object) -> int | None:
            if isinstance(value, int) and not isinstance(value, bool) and least <= value <= _MOST:
                return value
            return self._refuse(name, f"a whole number from {least} to {_MOST:,}")

        return read

    def _switch(self, name: str, value: object) -> bool | None:
        return value if isinstance(value, bool) else self._refuse(name, "true or false")

    def _seconds(self, name: str, value: object) -> float | None:
        if isinstance(value, int | float) and not isinstance(value, bool) and 0 < value <= _MOST:
            return float(value)
        return self._refuse(name, f"a number of seconds above 0, at most {_MOST:,}")

    def _choice(self, choices: Sequence[str]) -> Callable[[str, object], Any]:
        def read(name: str, value: object) -> object:
            return value if value in choices else self._refuse(name, "one of " + ", ".join(choices))

        return read

    def _severities(self, name: str, value: object) -> dict[str, Severity] | None:
        known = {code: (code, self._choice(_SEVERITIES)) for code in SEVERITIES}
        return self._fields(value, name + ".", known)
