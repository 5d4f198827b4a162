"""What is to run for a target: as before, as the settings say, or as a person chooses who is asked."""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Final, cast

from kinetoscope_core.errors import UsageError
from kinetoscope_core.source.regions import Region
from kinetoscope_core.source.role import Role
from kinetoscope_core.text import printable
from kinetoscope_server.protocol import methods
from kinetoscope_server.runs.again import gave_the_times
from kinetoscope_server.runs.choices import Choice, at_region, distinct, role_on_disk, that_reach, with_pytest
from kinetoscope_server.runs.command import Command, by_settings, filled, from_values
from kinetoscope_server.runs.interpreters import choose_interpreter
from kinetoscope_server.runs.named import name_arguments, named_for
from kinetoscope_server.runs.targets import Choose, Target
from kinetoscope_server.server import KinetoscopeServer
from kinetoscope_server.settings.settings import Settings
from kinetoscope_server.text.documents import Document

_MOST_BUTTONS: Final = 5


def known_command(
    server: KinetoscopeServer, target: Target, said: Command, *, is_plain: bool = False
) -> Command | None:
    """What was run for the target, where the settings now say `said`."""
    document = server.documents.get(target.uri)
    if document is None:
        return server.commands.again(target.path, None, said, prefers_last=is_plain)
    placed, of_file = server.board.placed(document), server.board.shown(document.path)
    shown = gave_the_times(placed, target.region, of_file)
    return server.commands.again(target.path, shown, said, prefers_last=is_plain)


def command_teller(server: KinetoscopeServer, document: Document, settings: Settings) -> Callable[[Region | None], str]:
    """What says, for people, what a click on a region of the file runs, or on none."""
    root = server.root_of(document.path)
    placed, of_file = server.board.placed(document), server.board.shown(document.path)
    said = by_settings(document.path, settings, root)
    known: dict[object, Command | None] = {}

    def told(region: Region | None) -> str:
        shown = gave_the_times(placed, region, of_file)
        if shown not in known:
            known[shown] = server.commands.again(document.path, shown, said)
        command = known[shown]
        if command is not None:
            return f"python {at_region(command, document.path, region).text(root)}"
        return first(region)

    def first(region: Region | None) -> str:
        role = document.role if not said.is_module and Path(said.script) == Path(document.path) else "script"
        if role == "module":
            return "asks which script runs this file"
        return f"python {(with_pytest(document.path, region, said) if role == 'tests' else said).text(root)}"

    return told


async def command_for(
    server: KinetoscopeServer, target: Target, known: Command | None, said: Command
) -> Command | None:
    """What runs, where `known` was run before and the settings say `said`; None where a person chose nothing."""
    command = await _command_for(server, target, known, said)
    return command if command is None or target.modules is None else replace(command, modules=target.modules or None)


async def _command_for(
    server: KinetoscopeServer, target: Target, known: Command | None, said: Command
) -> Command | None:
    root, path = server.root_of(target.path), target.path
    known = None if known is None else at_region(known, path, target.region)
    if target.choose == "interpreter":
        chosen = await choose_interpreter(server, path)
        command = from_values(target.command or {}, known or said, path, root)
        return None if chosen is None else replace(command, interpreter=chosen)
    if target.command is not None:
        return from_values(target.command, known or said, path, root)
    if known is not None and target.choose is None:
        command = known
    else:
        command = await _found_out(server, target, known, said)
    if command is None or target.arguments is None:
        return command
    return replace(command, arguments=tuple(filled(each, path, root) for each in target.arguments))


async def remember(server: KinetoscopeServer, target: Target, name: str, arguments: tuple[str, ...] | None) -> None:
    """Remembers arguments by a name for what runs for the file, or forgets the name. Raises `UsageError`."""
    settings = await server.configuration.of(target.uri)
    said = by_settings(target.path, settings, server.root_of(target.path))
    known = known_command(server, target, said)
    command = known or (await _usual(target, said))[0]
    await asyncio.to_thread(name_arguments, command, name, arguments)


async def _usual(target: Target, said: Command) -> tuple[Command, Role]:
    """What runs where nothing was run before, and what the file is for."""
    runs_itself = not said.is_module and Path(said.script) == Path(target.path)
    role = await asyncio.to_thread(role_on_disk, target.path) if runs_itself else "script"
    return (with_pytest(target.path, target.region, said) if role == "tests" else said), role


async def _found_out(server: KinetoscopeServer, target: Target, known: Command | None, said: Command) -> Command | None:
    path, root = target.path, server.root_of(target.path)
    usual, role = await _usual(target, said)
    name = printable(Path(path).name)
    if target.choose == "script" or (role == "module" and known is None):
        reaching = await asyncio.to_thread(that_reach, path, said, server.commands.recent, root)
        question = f"{name} only defines functions and classes." if role == "module" else ""
        choices = [*reaching, Choice(said, "the file itself")]
        return await _asked(server, target, "script", f"{question} Which script runs it?".lstrip(), choices, said)
    first = known or usual
    if target.choose is None:
        return first
    named = await asyncio.to_thread(named_for, first)
    recent = (each for each in reversed(server.commands.recent) if each.script == first.script)
    choices = [
        Choice(first, "as last time" if known else ""),
        *(Choice(replace(first, arguments=each.arguments), "", each.name) for each in named),
        *(Choice(each, "was run") for each in recent),
    ]
    if role == "module":
        choices += await asyncio.to_thread(that_reach, path, said, server.commands.recent, root)
    choices.append(Choice(usual, "as the settings say" if role != "tests" else "its tests"))
    return await _asked(server, target, target.choose, f"Profile {target.name} with", choices, first)


async def _asked(
    server: KinetoscopeServer, target: Target, what: Choose, question: str, among: Sequence[Choice], base: Command
) -> Command | None:
    """The command that a person chose; None where nothing was chosen. What a client adds goes before that of `base`."""
    root = server.root_of(target.path)
    choices = distinct(among, root)
    labels = [each.label(root) for each in choices]
    if server.client.takes(methods.CHOOSE):
        asked = {"uri": target.uri, "what": what, "question": question, "command": base.as_values()}
        offered = [
            {
                "label": label,
                "why": each.why,
                "name": each.name or None,
                "arguments": list(each.command.arguments) if each.command.script == base.script else None,
            }
            for label, each in zip(labels, choices, strict=True)
        ]
        answer = await server.client.choose({**asked, "choices": offered}) or {}
        index, command = answer.get("choice"), answer.get("command")
        if isinstance(index, int) and 0 <= index < len(choices):
            return choices[index].command
        given = cast("dict[str, Any]", command) if isinstance(command, dict) else None
        return None if given is None else from_values(given, base, target.path, root)
    if what == "arguments":
        raise UsageError("Give the arguments with the command kinetoscope.profileWithArguments.")
    chosen = await server.client.ask(question, *labels[:_MOST_BUTTONS])
    return choices[labels.index(chosen)].command if chosen in labels else None
