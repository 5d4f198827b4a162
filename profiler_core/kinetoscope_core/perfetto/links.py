"""How long each link lives. Knows a clock, not HTTP.

A link lives ten minutes unopened: people copy it to another machine, start a browser, answer what it asks. Once the
trace was sent, it lives five minutes more: the page keeps what it fetched, so this is for a reload or a second look.
While something is being sent a link does not end, however slow the line.
"""

import hmac
import secrets
import threading
from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from kinetoscope_core.perfetto.page import Page

UNOPENED_S: Final = 600
AFTER_REQUEST_S: Final = 300
_SECRET_BYTES: Final = 16


@dataclass(slots=True)
class Link:
    """A page and the trace it hands over. `requests` counts those being answered; whoever sends the trace whole says so
    in `was_sent`, and stops when `is_revoked`.
    """

    page: Page
    trace: Path
    ends_at_s: float
    requests: int = 0
    was_sent: bool = False
    is_revoked: bool = False


class Links:
    """The living links, by secret. May be used by many threads."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._links: dict[str, Link] = {}

    def add(self, page: Page, trace: Path) -> str:
        """A new link's secret."""
        secret = secrets.token_urlsafe(_SECRET_BYTES)
        with self._lock:
            self._links[secret] = Link(page, trace, self._clock() + UNOPENED_S)
        return secret

    @contextmanager
    def used(self, secret: str) -> Generator[Link | None]:
        """The living link of that secret, which will not end inside; `None` if there is none."""
        with self._lock:
            self._drop_ended()
            link = self._find(secret)
            if link:
                link.requests += 1
        try:
            yield link
        finally:
            if link:
                self._left(link)

    def any_living(self) -> bool:
        with self._lock:
            self._drop_ended()
            return bool(self._links)

    def revoke_all(self) -> None:
        with self._lock:
            for link in self._links.values():
                link.is_revoked = True
            self._links.clear()

    def _left(self, link: Link) -> None:
        with self._lock:
            link.requests -= 1
            ends_at_s = self._clock() + AFTER_REQUEST_S
            link.ends_at_s = ends_at_s if link.was_sent else max(link.ends_at_s, ends_at_s)

    def _find(self, secret: str) -> Link | None:
        wanted = secret.encode()
        found: Link | None = None
        for known, link in self._links.items():  # all of them, each in constant time: nothing to learn from how long
            if hmac.compare_digest(known.encode(), wanted):
                found = link
        return found

    def _drop_ended(self) -> None:
        now_s = self._clock()
        for secret, link in list(self._links.items()):
            if not link.requests and now_s >= link.ends_at_s:
                del self._links[secret]
