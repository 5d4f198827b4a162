"""Sets of arguments that a person named, of each script: one file beside the stored runs, for all editors."""

import logging
from pathlib import Path
from typing import Final

import msgspec

from kinetoscope_core.errors import UsageError
from kinetoscope_core.results.store import Store
from kinetoscope_server.runs.command import Command

log = logging.getLogger(__name__)

_FILE: Final = "arguments.json"


class NamedArguments(msgspec.Struct, frozen=True):
    """`script` is an absolute path; of a module it is its name, and `folder` where it runs, as others may have one of
    that name.
    """

    script: str
    folder: str | None
    name: str
    arguments: tuple[str, ...]

    def is_of(self, command: Command) -> bool:
        return (self.script, self.folder) == _identity(command)


def named_for(command: Command) -> list[NamedArguments]:
    """The sets of what the command runs, in the order of their names."""
    return sorted((each for each in _read(_path()) if each.is_of(command)), key=lambda each: each.name)


def name_arguments(command: Command, name: str, arguments: tuple[str, ...] | None) -> None:
    """Remembers arguments for what the command runs, in place of others of that name; without any, forgets the name.

    Raises `UsageError`.
    """
    name = " ".join(name.split())
    if not name:
        raise UsageError("Give the arguments a name.")
    path = _path()
    kept = [each for each in _read(path) if each.name != name or not each.is_of(command)]
    if arguments is not None:
        kept.append(NamedArguments(*_identity(command), name, arguments))
    new = path.with_suffix(".new")
    try:
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        new.touch(mode=0o600)
        new.write_bytes(msgspec.json.encode(kept))
        new.replace(path)
    except OSError as error:
        raise UsageError(f"The arguments could not be stored in {path}: {error.strerror}.") from error


def _identity(command: Command) -> tuple[str, str | None]:
    return command.script, command.folder if command.is_module else None


def _path() -> Path:
    return Store().root / _FILE


def _read(path: Path) -> list[NamedArguments]:
    try:
        return msgspec.json.decode(path.read_bytes(), type=list[NamedArguments])
    except FileNotFoundError:
        return []
    except (OSError, msgspec.DecodeError) as error:
        log.warning("%s cannot be read: %s", path, error)
        return []
