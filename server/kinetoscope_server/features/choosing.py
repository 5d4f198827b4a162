"""Which result a file shows: what there is to choose from, and the choice."""

import asyncio
from pathlib import Path
from typing import Any, Final

from lsprotocol import types

from kinetoscope_core.errors import KinetoscopeError
from kinetoscope_core.results.summary import title_of
from kinetoscope_core.text import printable
from kinetoscope_server.results.shown import Shown
from kinetoscope_server.results.titles import device_text, result_text, when_text
from kinetoscope_server.server import KinetoscopeServer
from kinetoscope_server.text.documents import path_of

_MOST: Final = 6
"""Results to choose from in a message, whose answers are buttons in most editors."""


def results_of(server: KinetoscopeServer, uri: str) -> list[dict[str, Any]]:
    """The answer to `kinetoscope/resultsOf`: all results of a file, the newest first."""
    path = path_of(uri) or ""
    return [
        {
            "run": each.run,
            "title": title_of(each.result.run, each.result.traces),
            "when": when_text(each.when, with_seconds=True),
            "device": device_text(each.result),
            "is_shown": each is server.board.shown(path),
        }
        for each in server.board.results(path)
    ]


async def choose_result(server: KinetoscopeServer, uri: str) -> None:
    """Asks which of the newest results the file is to show."""
    path = path_of(uri) or ""
    name = printable(Path(path).name)
    shown, results = server.board.shown(path), server.board.results(path)
    others = {result_text(each, with_seconds=True): each.run for each in reversed(results) if each is not shown}
    if shown is None or not others:
        server.client.tell(types.MessageType.Info, f"There is no other result for {name}.")
        return
    question = f"{name} shows {result_text(shown, with_seconds=True)}. Which result do you want to see?"
    answers = [*reversed(others)][:_MOST]
    chosen = others.get(await server.client.ask(question, *answers, kind=types.MessageType.Info) or "")
    if chosen is not None:
        await show_result(server, uri, chosen)


async def show_result(server: KinetoscopeServer, uri: str | None, run: str) -> None:
    """Shows a result in one file, or in all files that it measured."""
    path = None if uri is None else path_of(uri) or ""
    await server.recall()
    files = server.board.choose(run, path)
    if not files:  # it was cleared
        try:
            values = await asyncio.to_thread(server.archive.find, run)
            shown = None if values is None else Shown.of(values, run)
        except KinetoscopeError as error:
            server.client.tell(types.MessageType.Warning, printable(str(error)))
            return
        if shown is None:
            server.client.tell(types.MessageType.Warning, f"The run {printable(run)} is no longer stored.")
            return
        server.board.add(shown)
        files = server.board.choose(run, path)
    if not files:
        where = "any file" if path is None else printable(Path(path).name)
        server.client.tell(types.MessageType.Warning, f"The run {printable(run)} measured no region of {where}.")
    server.show_chosen(files)
