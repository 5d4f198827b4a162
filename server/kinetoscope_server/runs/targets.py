"""From the file or region that a person wants profiled to the request for its run, by the settings."""

import os
import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from kinetoscope_core.errors import UsageError
from kinetoscope_core.runner.request import RunRequest
from kinetoscope_core.source.regions import Region, SourceRegions
from kinetoscope_core.source.regions.which_region import same_in
from kinetoscope_core.text import printable
from kinetoscope_server.settings.settings import RunSettings, Settings

RUN_PLAIN: Final = "Run again without preparation"


@dataclass(frozen=True, slots=True)
class Target:
    """The file at `path`, or one region of it. `arguments` go before those of the settings."""

    uri: str
    path: str
    region: Region | None = None
    arguments: Sequence[str] | None = None

    @property
    def title(self) -> str:
        name = printable(Path(self.path).name)
        return f"Profiling {name}" if self.region is None else f"Profiling {printable(self.region.name)} in {name}"

    @property
    def place(self) -> tuple[int, str] | None:
        return None if self.region is None else (self.region.line - 1, self.region.name)


def request_of(target: Target, settings: Settings, root: Path | None, *, is_plain: bool = False) -> RunRequest:
    """The request for its run. Raises `UsageError` if the file or the region is not on disk."""
    run = settings.run_settings(target.path, root)
    folder = _absolute(run.folder, root) if run.folder else str(root or Path(target.path).parent)
    is_module = run.module is not None
    script = run.module or (_absolute(run.script, root) if run.script else target.path)
    if not is_module and not Path(script).is_file():
        raise UsageError(f"{script} is not on disk, so it cannot run. Save it first.")
    given = target.arguments if target.arguments is not None else run.arguments or ()
    arguments = tuple(_with_folders(argument, root).replace("${file}", target.path) for argument in given)
    interpreter = _interpreter(run, root)
    environment = {
        name: _with_folders(value, root).replace("${file}", target.path) for name, value in run.environment.items()
    }
    check_texts("An argument", arguments)
    check_texts("A variable of the environment", [*environment, *environment.values()])
    check_texts("The interpreter, script or folder", [interpreter or "", script, folder])
    return RunRequest(
        script,
        is_module,
        arguments,
        interpreter,
        top=None if root is None else str(root),
        folder=folder,
        environment=environment,
        region=None if target.region is None else f"{target.path}:{_line_on_disk(target.path, target.region)}",
        warmup=settings.warmup,
        active=settings.active,
        to_the_end=settings.to_the_end,
        budget_s=settings.budget_s,
        time_limit_s=settings.time_limit_s,
        is_plain=is_plain,
        prepares_next=settings.prepare != "off",
        packages=settings.packages,
    )


def examined_request(path: str | None, settings: Settings, root: Path | None) -> RunRequest:
    """As much of the request as says what the runs of a file, or of no particular one, have to measure with.

    Raises `UsageError`.
    """
    run = settings.run_settings(path or "", root)
    top = None if root is None else str(root)
    interpreter, folder = _interpreter(run, root), _absolute(run.folder, root) if run.folder else top
    environment = {name: _with_folders(value, root) for name, value in run.environment.items()}
    check_texts("The interpreter or folder", [interpreter or "", folder or ""])
    check_texts("A variable of the environment", [*environment, *environment.values()])
    return RunRequest(path or "", interpreter=interpreter, top=top, folder=folder, environment=environment)


def command_text(request: RunRequest) -> str:
    """What runs, as one would type it."""
    script = ["-m", request.script] if request.is_module else [request.script]
    return shlex.join([request.interpreter or "python", *script, *request.arguments])


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


def _interpreter(run: RunSettings, root: Path | None) -> str | None:
    """The one that is set; else the worker chooses (`kinetoscope_core.run.interpreter`)."""
    if run.interpreter is None:
        return None
    wanted = _with_folders(run.interpreter, root)
    return _absolute(wanted, root) if os.sep in wanted else wanted


def _absolute(path: str, root: Path | None) -> str:
    # Not resolved: the link to the interpreter of a virtual environment is what makes it that environment's.
    return os.path.normpath((root or Path.cwd()) / Path(_with_folders(path, root)).expanduser())


def _with_folders(text: str, root: Path | None) -> str:
    return text.replace("${workspaceFolder}", str(root)) if root is not None else text


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
