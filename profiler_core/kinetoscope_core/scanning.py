"""What the source of a script and its own modules says of imports and environment, found without running or parsing it.

A guess that costs milliseconds: whether a prepared interpreter is worth trying. What the script does decides.
"""

import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from pathlib import Path

from kinetoscope_core.runconfig import RunConfig
from kinetoscope_core.runner.variables import PREFIXES

MOST_FILES = 200

_IMPORT = re.compile(
    r"^[ \t]*(?:from[ \t]+([\w.]+)[ \t]+import\b|import[ \t]+([\w.]+(?:[ \t\w]*,[ \t]*[\w.]+)*))", re.MULTILINE
)
_VARIABLE = rf"[\"']((?:{'|'.join(PREFIXES)})\w*)[\"']"
_SETS = re.compile(
    rf"environ\s*\[\s*{_VARIABLE}\s*\]\s*=(?!=)|(?:setdefault|putenv|unsetenv|pop)\(\s*{_VARIABLE}"
    rf"|del\s+os\.environ\[\s*{_VARIABLE}|environ\.update\([^)]*?{_VARIABLE}"
)


# What an import may see (runner/surroundings.py), as scripts change it outside of any function.
_CHANGES = re.compile(
    r"^(logging\.basicConfig|atexit\.register|warnings\.(?:simplefilter|filterwarnings)(?=\(\s*[\"'](?!ignore))"
    r"|sys\.(?:excepthook|stdout|stderr)(?=\s*=(?!=)))",
    re.MULTILINE,
)


@dataclass(frozen=True, slots=True)
class Scan:
    """Top-level names of what is imported, and the variables set that torch and C libraries read once.

    `change` is what the script itself changes first that imports may see, `imports_before` what it imports before.
    """

    imports: frozenset[str]
    variables: tuple[str, ...]
    change: str
    imports_before: frozenset[str]

    def why_cold(self, roots: Collection[str]) -> str | None:
        """Why a script that imports these packages will not do with a prepared interpreter, if that can be told."""
        if self.variables:
            return f"it sets {', '.join(self.variables)}"
        if self.change and roots and self.imports_before.isdisjoint(roots):
            return f"it comes to {self.change} before it imports its packages"
        return None


def scan(config: RunConfig) -> Scan:
    """Looks through the script and those modules beside it that it imports, packages with all their files."""
    folder = (config.folder or Path()).resolve()
    if config.is_module:
        own, script = folder, folder.joinpath(*config.script.split("."))
        waiting = _files_of(script) or _files_of(folder / config.script.partition(".")[0])
        main = script / "__main__.py" if script.is_dir() else script.with_suffix(".py")
    else:
        script = folder / config.script
        own = script if script.is_dir() else script.resolve().parent
        waiting = sorted(script.rglob("*.py")) if script.is_dir() else [script]
        main = script / "__main__.py" if script.is_dir() else script
    change, before = "", frozenset[str]()
    imports: set[str] = set()
    variables: set[str] = set()
    seen: set[Path] = set()
    while waiting and len(seen) < MOST_FILES:
        file = waiting.pop()
        if file in seen:
            continue
        seen.add(file)
        try:
            text = file.read_text(encoding="utf-8", errors="replace")
        except OSError:  # the run says it better
            continue
        if file == main and (found := _CHANGES.search(text)):
            before = frozenset(_names_in(text[: found.start()]))
            if not any(_files_of(own / name) for name in before):  # which may import anything
                change = found[1]
        variables.update(next(filter(None, found.groups())) for found in _SETS.finditer(text))
        for name in _names_in(text):
            files = _files_of(own / name)
            waiting.extend(files)
            if not files:
                imports.add(name)
    return Scan(frozenset(imports), tuple(sorted(variables)), change, before)


def _names_in(text: str) -> Iterator[str]:
    for found in _IMPORT.finditer(text):
        for part in (found[1] or found[2]).split(","):
            name = part.strip().partition(" ")[0].partition(".")[0]
            if name:
                yield name


def _files_of(base: Path) -> list[Path]:
    """The files of a module or package at this place."""
    if base.is_dir():
        return sorted(base.rglob("*.py"))
    file = base.with_suffix(".py")
    return [file] if file.is_file() else []
