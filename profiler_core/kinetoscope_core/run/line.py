"""The listening end of the line to what runs in the user's Pythons: JSON over a local socket with a one-time key."""

import contextlib
import json
from collections.abc import Iterator
from multiprocessing.connection import Client, Listener
from typing import Any, TypeAlias

from kinetoscope_core import log_file

Message: TypeAlias = dict[str, Any]

Line: TypeAlias = Any
"""A `multiprocessing.connection.Connection`, which is another class on Windows."""


def listener_with(key: bytes) -> Listener:
    """Listens for those who have the key."""
    try:
        return Listener(authkey=key, backlog=64)
    except OSError:  # a temporary folder whose path is too long for a socket
        return Listener(("127.0.0.1", 0), authkey=key, backlog=64)


def send(connection: Line, message: Message) -> None:
    """Sends one message; that the other side has gone is heard, too."""
    with contextlib.suppress(OSError):
        connection.send_bytes(json.dumps(message).encode())


def messages_of(connection: Line) -> Iterator[Message]:
    """What comes, until the other side has gone."""
    while True:
        try:
            yield json.loads(connection.recv_bytes())
        except (EOFError, OSError):
            return


def unblock(address: str | tuple[str, int]) -> None:
    """Lets `accept` return though nobody came. Without a key: with one, it would wait for an answer."""
    with contextlib.suppress(OSError, EOFError):  # the listener may have been closed meanwhile
        Client(address).close()


def note(who: str, message: Message) -> None:
    """Into the log, but for what a script says of its failure, and for what comes five times a second."""
    if not log_file.is_on() or message["event"] in ("progress", "stands"):
        return
    is_of_script = message["event"] in ("failed", "not_found")
    values = {} if is_of_script else {name: value for name, value in message.items() if name != "event"}
    log_file.note("%s: %s %s", who, message["event"], json.dumps(values) if values else "")
