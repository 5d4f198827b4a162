"""What runs: a script or module with its arguments, where and in which Python. By the settings, or as it once ran."""

import os
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, cast

from kinetoscope_core.errors import UsageError
from kinetoscope_core.results.result import RunInfo
from kinetoscope_core.runner.request import ModuleChoice
from kinetoscope_core.text import cut, printable
from kinetoscope_server.settings.settings import RunSettings, Settings

_LONGEST = 120


@dataclass(frozen=True, slots=True)
class Command:
    """`script` is an absolute path, or a module's name where `is_module`. `interpreter` is None until one is chosen,
    `environment` is added to the server's, above the variables of `env_file`, which may not be there. With
    `modules`, these are measured, too.
    """

    script: str
    is_module: bool = False
    arguments: tuple[str, ...] = ()
    environment: Mapping[str, str] = field(default_factory=dict[str, str])
    interpreter: str | None = None
    folder: str = ""
    env_file: str | None = None
    modules: ModuleChoice | None = None

    @classmethod
    def of_run(cls, run: RunInfo) -> "Command":
        """What gave a result."""
        folder = run.folder or str(Path(run.script).parent)
        script = run.script if run.is_module else os.path.normpath(Path(folder) / run.script)
        environment = dict(run.environment)
        modules = None if run.modules is None else ModuleChoice(run.modules.depth, run.modules.classes)
        return cls(script, run.is_module, run.arguments, environment, run.interpreter, folder, run.env_file, modules)

    @property
    def is_there(self) -> bool:
        """Whether it can still run: its script and its folder have not gone."""
        return Path(self.folder).is_dir() and (self.is_module or Path(self.script).is_file())

    def text(self, root: Path | None) -> str:
        """As one would type it after `python`, for people: short, in one line."""
        script = shlex.join(["-m", self.script] if self.is_module else [_below(self.script, root)])
        return f"{cut(printable(script), _LONGEST)} {self.arguments_text(root)}".rstrip()

    def arguments_text(self, root: Path | None) -> str:
        """The arguments alone, the names of the variables that are set, and of their file, and whether with modules."""
        text = cut(printable(shlex.join(_below(each, root) for each in self.arguments)), _LONGEST)
        file = self.env_file if self.env_file is not None and Path(self.env_file).is_file() else None
        names = ["modules"] if self.modules is not None else []
        names += [*sorted(self.environment), *([] if file is None else [_below(file, root)])]
        named = cut(printable(", ".join(names)), _LONGEST)
        return f"{text} (with {named})".lstrip() if named else text

    def as_values(self) -> dict[str, Any]:
        """As `kinetoscope/choose` and `kinetoscope/profile` have it."""
        return {
            "script": None if self.is_module else self.script,
            "module": self.script if self.is_module else None,
            "arguments": list(self.arguments),
            "environment": dict(self.environment),
            "interpreter": self.interpreter,
            "folder": self.folder,
            "envFile": self.env_file,
            "modules": self.modules and {"depth": self.modules.depth, "classes": list(self.modules.classes)},
        }


def by_settings(path: str, settings: Settings, root: Path | None) -> Command:
    """As the settings say for a file."""
    run = settings.run_settings(path, root)
    script = run.module or (absolute(run.script, root) if run.script else path)
    folder = absolute(run.folder, root) if run.folder else str(root or Path(path).parent)
    environment = {name: filled(value, path, root) for name, value in run.environment.items()}
    arguments = tuple(filled(each, path, root) for each in run.arguments or ())
    interpreter, env_file = interpreter_of(run, root), env_file_of(settings, root)
    return Command(script, run.module is not None, arguments, environment, interpreter, folder, env_file)


def from_values(values: Mapping[str, Any], otherwise: Command, path: str, root: Path | None) -> Command:
    """What a client's JSON names for a file; what it leaves out is as `otherwise`. Raises `UsageError` where it is not
    of the form that docs/lsp.md gives.
    """
    given: dict[str, Any] = {}
    for name, kind in {"script": str, "module": str, "interpreter": str, "folder": str, "envFile": str}.items():
        value = values.get(name)
        if isinstance(value, kind) and value:
            given[name] = value
        elif value is not None:
            raise UsageError(f"command.{name} is not a text.")
    arguments = values.get("arguments")
    if arguments is not None:
        if not _are_texts(arguments):
            raise UsageError("command.arguments is not a list of texts.")
        given["arguments"] = tuple(filled(each, path, root) for each in arguments)
    environment: object = values.get("environment")
    if environment is not None:
        if not isinstance(environment, dict) or not _are_texts(
            list(cast("dict[object, object]", environment).values())
        ):
            raise UsageError("command.environment is not an object of names and texts.")
        given["environment"] = {**otherwise.environment, **cast("dict[str, str]", environment)}
    if values.get("modules") is not None:
        given["modules"] = modules_from(values["modules"])
    module, script = given.pop("module", None), given.pop("script", None)
    if module or script:
        given |= {"script": module or absolute(script, root), "is_module": module is not None}
        given.setdefault("arguments", ())
    if "folder" in given:
        given["folder"] = absolute(given["folder"], root)
    if "envFile" in given:
        given["env_file"] = absolute(given.pop("envFile"), root)
    return replace(otherwise, **given)


def modules_from(value: object) -> ModuleChoice:
    """The choice that a client's JSON names. Raises `UsageError`."""
    given = cast("dict[str, object]", value) if isinstance(value, dict) else {"depth": value}
    depth, classes = given.get("depth"), given.get("classes", [])
    if not (depth is None or (type(depth) is int and depth >= 0)) or not _are_texts(classes):
        raise UsageError("modules is not an object of a depth and classes.")
    return ModuleChoice(depth, tuple(cast("list[str]", classes)))


def filled(text: str, path: str | None, root: Path | None) -> str:
    """An argument or value, with what `${workspaceFolder}` and `${file}` stand for."""
    text = _with_folders(text, root)
    return text if path is None else text.replace("${file}", path)


def interpreter_of(run: RunSettings, root: Path | None) -> str | None:
    """The one that is set; else the worker chooses (`kinetoscope_core.run.interpreter`)."""
    if run.interpreter is None:
        return None
    wanted = _with_folders(run.interpreter, root)
    return absolute(wanted, root) if os.sep in wanted else wanted


def env_file_of(settings: Settings, root: Path | None) -> str | None:
    """The file with variables of a run; without a workspace there is none in it."""
    if not settings.env_file or (root is None and "${workspaceFolder}" in settings.env_file):
        return None
    return absolute(settings.env_file, root)


def is_executable(interpreter: str | None) -> bool:
    """Whether that Python has not gone; one without a path is looked for when it starts."""
    return interpreter is None or os.sep not in interpreter or os.access(interpreter, os.X_OK)


def absolute(path: str, root: Path | None) -> str:
    # Not resolved: the link to the interpreter of a virtual environment is what makes it that environment's.
    return os.path.normpath((root or Path.cwd()) / Path(_with_folders(path, root)).expanduser())


def check_texts(what: str, texts: Sequence[str]) -> None:
    """Raises `UsageError` for texts that no program can be given."""
    for text in texts:
        if "\0" in text or not _is_unicode(text):
            raise UsageError(
                f"{what} is {printable(text)}, which holds a NUL or half of a character (a lone surrogate); no program"
                " can be given that."
            )


def _is_unicode(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _are_texts(value: object) -> bool:
    return isinstance(value, list) and all(isinstance(each, str) for each in cast("list[object]", value))


def _with_folders(text: str, root: Path | None) -> str:
    return text.replace("${workspaceFolder}", str(root)) if root is not None else text


def _below(path: str, root: Path | None) -> str:
    """Relative to the workspace's folder where it lies below it."""
    start = f"{root}{os.sep}"
    return path.removeprefix(start) if root is not None else path
