"""Which Python runs the scripts, where a person chooses it: what there is, and the choice."""

import asyncio
import os
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

from lsprotocol import types

from kinetoscope_core.errors import UsageError
from kinetoscope_core.run.pythons import Python, python_at, pythons
from kinetoscope_core.text import printable
from kinetoscope_server.runs.command import absolute, interpreter_of
from kinetoscope_server.server import KinetoscopeServer
from kinetoscope_server.text.documents import uri_of

_MOST_BUTTONS: Final = 6


async def interpreters(server: KinetoscopeServer, path: str | None, named: Sequence[str] = ()) -> list[dict[str, Any]]:
    """The rows of `kinetoscope/interpreters`: for a file, or for none. `named` are paths that the client knows of."""
    used, root = await _used(server, path), server.root_of(path or "")
    known = [*((each, "selected in the editor") for each in named), *([(used, "the one that is set")] if used else [])]
    found = await asyncio.to_thread(pythons, root, known)
    path_used = None if used is None else shutil.which(used)
    return [_row(server, each, path_used) for each in found]


def _row(server: KinetoscopeServer, python: Python, used: str | None) -> dict[str, Any]:
    device = server.commands.devices.get(python.path)
    text = python.text if device is None else f"{python.text} · measured on {device}"
    is_used = used is not None and Path(used).absolute() == Path(python.path)
    return {**python.as_values(), "text": printable(text), "where": printable(python.where), "is_used": is_used}


async def _used(server: KinetoscopeServer, path: str | None) -> str | None:
    settings = server.configuration.general if path is None else await server.configuration.of(uri_of(path))
    root = server.root_of(path or "")
    return interpreter_of(settings.run_settings(path or "", root), root)


async def choose_interpreter(server: KinetoscopeServer, path: str | None, given: str | None = None) -> str | None:
    """Has the Python at `given`, or the one that a person chooses, run scripts from now on; None where none was chosen.

    Raises `UsageError` if nothing at `given` can be started.
    """
    chosen = given if given is not None else await _asked(server, path)
    if chosen is None:
        return None
    found = _startable(chosen, server.root_of(path or ""))
    server.configuration.choose_interpreter(found)
    server.show_again()
    return found


def _startable(chosen: str, root: Path | None) -> str:
    found = shutil.which(absolute(chosen, root) if os.sep in chosen else chosen)
    if found is None:
        raise UsageError(f"There is no Python that can be started at {chosen}.")
    return str(Path(found).absolute())


async def tell_interpreter(server: KinetoscopeServer, path: str | None, given: str | None) -> None:
    """The same for its own sake: says what was chosen."""
    try:
        chosen = await choose_interpreter(server, path, given)
    except UsageError as error:
        server.client.tell(types.MessageType.Warning, printable(str(error)))
        return
    if chosen is not None:
        known = await asyncio.to_thread(python_at, chosen)
        server.client.tell(types.MessageType.Info, printable(f"Scripts run in {chosen}: {known.text}."))


async def _asked(server: KinetoscopeServer, path: str | None) -> str | None:
    rows = await interpreters(server, path)
    labels = {f"{each['where']}: {each['text']} ({each['path']})": each["path"] for each in rows[:_MOST_BUTTONS]}
    question = "Which Python runs the scripts? Another one can be named with kinetoscope.interpreter."
    answer = await server.client.ask(question, *labels)
    return None if answer is None else labels.get(answer)
