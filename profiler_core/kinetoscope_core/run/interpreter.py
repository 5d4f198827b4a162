"""Which Python runs a script, and why that one. docs/cli.md, "Which Python", has the order for people."""

import importlib.util
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from kinetoscope_core import log_file
from kinetoscope_core.errors import InterpreterError
from kinetoscope_core.run.pythons import python_at, python_in
from kinetoscope_core.runner.request import RunRequest
from kinetoscope_core.wording import setting

_ANSWERS_WITHIN_S = 20.0
_QUESTION = """import sys
sys.path[:1] = [] if sys.path[:1] == [''] else sys.path[:1]
from importlib.util import find_spec
found = find_spec('torch')
print('yes' if found and found.loader else 'no')"""


@dataclass(frozen=True, slots=True)
class Interpreter:
    """A Python for scripts. `why` says what names it; `passed_over` are the environments before it, without torch."""

    path: str
    why: str
    passed_over: tuple[str, ...] = ()


def find_interpreter(request: RunRequest) -> Interpreter:
    """The one that is asked for, as it is; else the first with torch of: the active environment's, a `.venv`'s, those
    on the path, our own.

    A `.venv` is looked for in the folder of the script, above it as far as `top` (None: the folder where it runs), and
    in the folder where it runs. To ask for torch, a Python is started whose files do not tell that it has it. Raises
    `InterpreterError`.
    """
    if request.interpreter is not None:
        return _noted(Interpreter(_path_of(request.interpreter), "the one that was set"))
    base = Path(os.path.normpath(Path(request.folder or ".").absolute()))
    top = base if request.top is None else Path(request.top)
    environments = list(_environments(base / (request.script or "."), base, top))
    looked_at: dict[str, str] = {}
    for path, why in [*environments, *_others()]:
        if path in looked_at:
            continue
        lack = _lack_of(path, base)
        if not lack:
            passed_over = [looked_at[each] for each, _ in environments if each in looked_at]
            return _noted(Interpreter(path, why, tuple(dict.fromkeys(passed_over))))
        looked_at[path] = f"{path} ({why}) {lack}"
        log_file.note("passed over: %s", looked_at[path])
    raise InterpreterError(
        f"No Python with torch was found. Looked at: {'; '.join(looked_at.values())}. Name the one that has it with"
        f" {setting('interpreter')}."
    )


def _noted(chosen: Interpreter) -> Interpreter:
    log_file.note("interpreter: %s, %s", chosen.path, chosen.why)
    return chosen


def _path_of(wanted: str) -> str:
    found = shutil.which(wanted)
    if found is None:
        raise InterpreterError(
            f"No Python interpreter at {wanted}. Give the path of one with {setting('interpreter')}."
        )
    return str(Path(found).absolute())  # the script may run in another folder; a link of an environment stays one


def _environments(script: Path, base: Path, top: Path) -> Iterator[tuple[str, str]]:
    """The Pythons of environments that the user may have meant, and what says so."""
    for variable in ("VIRTUAL_ENV", "CONDA_PREFIX"):
        prefix = os.environ.get(variable)
        found = prefix and python_in(Path(prefix))
        if found:
            yield found, f"the active environment, ${variable}"
    for parent in _folders_with_environments(Path(os.path.normpath(script)), base, top):
        found = python_in(parent / ".venv")
        if found:
            yield found, f"the .venv of {parent}"


def _others() -> Iterator[tuple[str, str]]:
    for name in ("python3", "python"):
        found = shutil.which(name)
        if found:
            yield found, f"{name} on PATH"
    yield sys.executable, "the Python that Kinetoscope runs in"


def _folders_with_environments(script: Path, base: Path, top: Path) -> list[Path]:
    """The script's folder and those above it up to `top`, if that is above it; and `base`, if that is another."""
    beside = base if script == base else script.parent
    folders = [beside, *beside.parents]
    folders = folders[: folders.index(top) + 1] if top in folders else [beside]
    return list(dict.fromkeys([*folders, base]))


def _lack_of(python: str, folder: Path) -> str:
    """What a Python lacks to measure with; empty where it has torch."""
    if python == sys.executable:
        return "" if importlib.util.find_spec("torch") else "has no torch"
    if python_at(python).has_torch:
        return ""
    try:
        asked = subprocess.run(
            [python, "-c", _QUESTION],
            cwd=folder,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=_ANSWERS_WITHIN_S,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return f"did not answer within {_ANSWERS_WITHIN_S:g} s"
    except OSError as error:
        return f"cannot be started: {error.strerror}"
    answer = asked.stdout.strip().splitlines()[-1:]
    return "" if answer == ["yes"] else "has no torch" if answer == ["no"] else "is no Python 3 that works"
