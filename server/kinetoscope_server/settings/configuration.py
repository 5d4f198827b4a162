"""The settings that hold, as the client has them: general ones, and those of each file. How they are read is for
settings.py.
"""

import asyncio
from collections.abc import Callable
from dataclasses import replace
from typing import cast

from kinetoscope_server.protocol.client import Client
from kinetoscope_server.settings.settings import SECTION, Settings, read_settings


class Configuration:
    """The settings of one client. `on_wrong` is told what is wrong in them."""

    def __init__(self, client: Client, on_wrong: Callable[[str], None]) -> None:
        self._client = client
        self._on_wrong = on_wrong
        self._initial: dict[str, object] = {}
        self._asked: dict[str, asyncio.Future[Settings]] = {}
        self._general = Settings()
        self._interpreter: str | None = None

    @property
    def general(self) -> Settings:
        """Those that hold where no file is meant."""
        return self._chosen(self._general)

    def choose_interpreter(self, path: str) -> None:
        """Has it hold in place of the one that is set, until another one is set."""
        self._interpreter = path

    def _chosen(self, settings: Settings) -> Settings:
        return settings if self._interpreter is None else replace(settings, interpreter=self._interpreter)

    def initialized_with(self, options: object) -> None:
        """Takes what came with `initialize`, which holds for what a client says nothing of later."""
        if isinstance(options, dict):
            given = cast("dict[str, object]", options)
            own = given.get(SECTION, given)
            self._initial = cast("dict[str, object]", own) if isinstance(own, dict) else {}

    async def begin(self) -> None:
        """Reads what came with `initialize` and what the client has, and asks to be told of changes."""
        self._take(self._initial)
        await self._client.watch_configuration()
        await self.change(None)

    async def change(self, pushed: object) -> None:
        """Asks a client that has settings for them; else takes those that it pushes."""
        self._asked.clear()  # who asks for a file's while the general ones are on their way gets the new ones
        if self._client.has_configuration:
            self._take(self._over_the_initial(await self._client.configuration(SECTION, None)))
        elif isinstance(pushed, dict):
            given = cast("dict[str, object]", pushed)
            self._take(self._over_the_initial(given.get(SECTION, given)))

    async def of(self, uri: str) -> Settings:
        """The settings of a file: a client may have other ones for each of its folders."""
        if not self._client.has_configuration:
            return self.general
        asked = self._asked.get(uri)
        if asked is None:
            asked = self._asked[uri] = asyncio.ensure_future(self._ask_for(uri))
        # Others wait for the same answer: who is cancelled does not take it from them.
        return self._chosen(await asyncio.shield(asked))

    async def _ask_for(self, uri: str) -> Settings:
        return self._read(self._over_the_initial(await self._client.configuration(SECTION, uri)))

    def _take(self, values: object) -> None:
        before, self._general = self._general, self._read(values)
        if self._general.interpreter != before.interpreter:
            self._interpreter = None
        self._asked.clear()

    def _read(self, values: object) -> Settings:
        settings, wrong = read_settings(values)
        for message in wrong:
            self._on_wrong(message)
        return settings

    def _over_the_initial(self, values: object) -> object:
        if values is None or values == []:  # Neovim's way to say nothing
            return self._initial
        if not isinstance(values, dict):
            return values
        given = {name: value for name, value in cast("dict[str, object]", values).items() if value is not None}
        return {**self._initial, **given}
