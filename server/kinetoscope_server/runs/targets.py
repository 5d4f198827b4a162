"""From the file or region that a person wants profiled to the request for its run."""

import shlex
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Literal

from kinetoscope_core.errors import UsageError
from kinetoscope_core.runner.request import ModuleChoice, RunRequest
from kinetoscope_core.source.regions import Region, SourceRegions
from kinetoscope_core.source.regions.which_region import same_in
from kinetoscope_core.text import printable
from kinetoscope_server.runs.command import (
    Command,
    absolute,
    by_settings,
    check_texts,
    env_file_of,
    filled,
    interpreter_of,
)
from kinetoscope_server.settings.settings import Settings

RUN_PLAIN: Final = "Run again without preparation"

PROFILE_MODULES: Final = "Profile modules"

Choose = Literal["run", "arguments", "script", "interpreter"]


@dataclass(frozen=True, slots=True)
class Target:
    """The file at `path`, or one region of it. `arguments` go before those with which it would run, `command`, from a
    client's JSON, before all that it names. `choose`: a person is asked for what is to run, or for a part of it. With
    `vary` (`size=64,1024`) it is run in all these settings, `repeat` times each. With `modules`, these are
    measured; with False none, also where those were measured that are shown.
    """

    uri: str
    path: str
    region: Region | None = None
    arguments: tuple[str, ...] | None = None
    command: Mapping[str, Any] | None = None
    choose: Choose | None = None
    vary: tuple[str, ...] = ()
    repeat: int = 1
    modules: ModuleChoice | Literal[False] | None = None

    @property
    def name(self) -> str:
        file = printable(Path(self.path).name)
        return file if self.region is None else f"{printable(self.region.name)} in {file}"

    @property
    def place(self) -> tuple[int, str] | None:
        return None if self.region is None else (self.region.line - 1, self.region.name)


def title_of(target: Target, command: Command, root: Path | None) -> str:
    """What is going on, for people: also with what the script runs, and which one, if it is not the file itself."""
    varied = f", with {printable(' '.join(target.vary))}" if target.vary else ""
    if not command.is_module and Path(command.script) == Path(target.path):
        return f"Profiling {target.name} {command.arguments_text(root)}".rstrip() + varied
    return f"Profiling {target.name}, running {command.text(root)}{varied}"


def request_of(
    target: Target,
    settings: Settings,
    root: Path | None,
    command: Command | None = None,
    *,
    is_plain: bool = False,
) -> RunRequest:
    """The request for its run with a command, by default that of the settings. Raises `UsageError` if the file or the
    region is not on disk.
    """
    command = command or by_settings(target.path, settings, root)
    if not command.is_module and not Path(command.script).is_file():
        raise UsageError(f"{command.script} is not on disk, so it cannot run. Save it first.")
    if command.env_file and not Path(command.env_file).is_file() and Path(command.env_file).name != ".env":
        raise UsageError(f"envFile names {command.env_file}, which does not exist. Correct it, or leave it empty.")
    check_texts("An argument", command.arguments)
    check_texts("A variable of the environment", [*command.environment, *command.environment.values()])
    check_texts("The interpreter, script or folder", [command.interpreter or "", command.script, command.folder])
    return RunRequest(
        command.script,
        command.is_module,
        command.arguments,
        command.interpreter,
        top=None if root is None else str(root),
        folder=command.folder,
        environment=command.environment,
        env_file=command.env_file,
        region=None if target.region is None else f"{target.path}:{_line_on_disk(target.path, target.region)}",
        warmup=settings.warmup,
        active=settings.active,
        to_the_end=settings.to_the_end,
        budget_s=settings.budget_s,
        time_limit_s=settings.time_limit_s,
        is_plain=is_plain,
        prepares_next=settings.prepare != "off",
        packages=settings.packages,
        modules=command.modules,
    )


def examined_request(path: str | None, settings: Settings, root: Path | None) -> RunRequest:
    """As much of the request as says what the runs of a file, or of no particular one, have to measure with.

    Raises `UsageError`.
    """
    run = settings.run_settings(path or "", root)
    top = None if root is None else str(root)
    interpreter, folder = interpreter_of(run, root), absolute(run.folder, root) if run.folder else top
    environment = {name: filled(value, path, root) for name, value in run.environment.items()}
    check_texts("The interpreter or folder", [interpreter or "", folder or ""])
    check_texts("A variable of the environment", [*environment, *environment.values()])
    env_file = env_file_of(settings, root)
    return RunRequest(
        path or "", interpreter=interpreter, top=top, folder=folder, environment=environment, env_file=env_file
    )


def command_text(request: RunRequest) -> str:
    """What runs, as one would type it."""
    script = ["-m", request.script] if request.is_module else [request.script]
    return shlex.join([request.interpreter or "python", *script, *request.arguments])


def _line_on_disk(path: str, wanted: Region) -> int:
    """Where the region of an edited text stands in the file that will run."""
    try:
        source = SourceRegions(Path(path).read_bytes())
    except OSError as error:
        raise UsageError(f"{path} cannot be read ({error.strerror}). Save it first.") from error
    region = same_in(source, wanted)
    if region is None:
        raise UsageError(
            f"The region {printable(wanted.name)} is not in {Path(path).name} as it is on disk;"
            " save the file and profile again."
        )
    return region.line
