"""How far a run is, shown as work-done progress: on the token of the request, else on one that the client grants."""

import secrets
from typing import Final

from lsprotocol import types

from kinetoscope_core.text import count_text, printable
from kinetoscope_server.protocol.client import Client
from kinetoscope_server.runs.worker import Event

_LONGEST_NAME: Final = 40


class RunProgress:
    """The progress of one run; it stays silent where the client shows none."""

    def __init__(self, client: Client, token: int | str | None) -> None:
        self._client = client
        self.token = token

    async def begin(self, title: str) -> None:
        if self.token is None:
            token = f"kinetoscope-{secrets.token_hex(8)}"
            if not await self._client.create_progress(token):
                return
            self.token = token
        self._client.progress(self.token, types.WorkDoneProgressBegin(title=title, cancellable=True))

    def report(self, text: str) -> None:
        if self.token is not None:
            self._client.progress(self.token, types.WorkDoneProgressReport(message=text, cancellable=True))

    def end(self, text: str) -> None:
        if self.token is not None:
            self._client.progress(self.token, types.WorkDoneProgressEnd(message=text))
            self.token = None


class SeriesProgress(RunProgress):
    """One progress for several runs, one after another, from the beginning of the first one until `close`."""

    def __init__(self, client: Client, token: int | str | None, times: int) -> None:
        super().__init__(client, token)
        self._times = times
        self.begun = 0
        self.is_cancelled = False

    async def begin(self, title: str) -> None:
        self.begun += 1
        if self.begun == 1:
            await super().begin(f"{title}, {self._times} times")

    def report(self, text: str) -> None:
        super().report(f"run {self.begun} of {self._times}: {text}")

    def end(self, text: str) -> None:
        """Ends nothing: that of one run is not that of all."""

    def close(self) -> None:
        super().end("done")


def phase_text(event: Event, *, is_focused: bool) -> str:
    """A worker's progress for people: `warming up train_step: 2 calls`."""
    phase, region = event["phase"], event["region"]
    if not region:
        return phase
    name = printable(region)
    name = name if len(name) <= _LONGEST_NAME else name[: _LONGEST_NAME - 1] + "…"
    text = f"{phase} {name}: {count_text(event['calls'], 'call')}"
    return text if is_focused else f"{text}, {event['complete']} of {event['seen']} regions complete"
