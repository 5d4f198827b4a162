"""What a file can be run with, where a person chooses: what was run, and what in the workspace imports it."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from kinetoscope_core.source.regions import Region, SourceRegions
from kinetoscope_core.source.role import Role, importers, pytest_id, role_of
from kinetoscope_core.text import printable
from kinetoscope_server.runs.command import Command
from kinetoscope_server.text.workspace import python_files

_MOST_CHOICES: Final = 12


@dataclass(frozen=True, slots=True)
class Choice:
    """A command, and why it is offered; `name` is that of its arguments, if they have one."""

    command: Command
    why: str
    name: str = ""

    def label(self, root: Path | None) -> str:
        """For people: its name, if it has one, and what runs."""
        text = self.command.text(root)
        return f"{printable(self.name)}: {text}" if self.name else text


def role_on_disk(path: str) -> Role:
    """What the file is for as it will run; a script where it cannot be read."""
    try:
        return role_of(SourceRegions(Path(path).read_bytes()), path)
    except OSError:
        return "script"


def with_pytest(path: str, region: Region | None, said: Command) -> Command:
    """Runs the test around the region, or all tests of the file, where the settings say to run the file itself."""
    return replace(said, script="pytest", is_module=True, arguments=(_test(path, region),))


def at_region(command: Command, path: str, region: Region | None) -> Command:
    """The same command; of tests with pytest the test around that region in place of another one of the file. A region
    of the text is measured without the modules around it.
    """
    if region is not None and region.kind != "statement":
        command = replace(command, modules=None)
    if not command.is_module or command.script != "pytest":
        return command
    here = {each for each in command.arguments if each.partition("::")[0] == path}
    arguments = dict.fromkeys(_test(path, region) if each in here else each for each in command.arguments)
    return replace(command, arguments=tuple(arguments))


def _test(path: str, region: Region | None) -> str:
    test = None if region is None else pytest_id(region.path)
    return path if test is None else f"{path}::{test}"


def that_reach(path: str, said: Command, recent: Sequence[Command], root: Path | None) -> list[Choice]:
    """What may reach the regions of a module: scripts that ran of late and import it, the newest first, then all
    scripts and tests of the workspace that do. Reads files: not for the server's own thread.
    """
    scripts = [each.script for each in recent if not each.is_module]
    files = [] if root is None else [str(each.resolve()) for each in python_files(root)]
    found = importers(path, dict.fromkeys([*scripts, *files]))
    name = Path(path).name
    ran = [Choice(each, f"was run, imports {name}") for each in reversed(recent) if _runs(each, found)]
    return [*ran, *(choice for each in found if (choice := _of_file(each, name, said)) is not None)]


def distinct(choices: Iterable[Choice], root: Path | None) -> list[Choice]:
    """The first of those that read alike, under its name where one of them has one."""
    among = [*choices]
    named: dict[str, Choice] = {}
    for each in among:
        if each.name:
            named.setdefault(each.command.text(root), each)
    found: dict[str, Choice] = {}
    for each in among:
        known = each if each.name else named.get(each.command.text(root), each)
        found.setdefault(known.label(root), replace(each, name=known.name))
    return [*found.values()][:_MOST_CHOICES]


def _runs(command: Command, files: Sequence[str]) -> bool:
    named = [each.partition("::")[0] for each in command.arguments] if command.is_module else [command.script]
    return command.is_there and any(each in files for each in named)


def _of_file(file: str, imported: str, said: Command) -> Choice | None:
    role = role_on_disk(file)
    if role == "tests":
        return Choice(with_pytest(file, None, said), f"tests that import {imported}")
    return Choice(replace(said, script=file), f"imports {imported}") if role == "script" else None
