"""Messages in and out of the process. Knows frames, threads and cancelled requests, nothing of what messages say.

In place of pygls's own loop, which breaks when anything prints, runs requests that were cancelled long ago, and waits
for its threads before it ends.
"""

import asyncio
import contextlib
import logging
import os
import socket
import sys
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from typing import IO, Any, BinaryIO, Final, cast

from lsprotocol import types

from kinetoscope_server.protocol import codec

log = logging.getLogger(__name__)

_HEADER: Final = b"content-length:"
_LONGEST_HEADER: Final = 8_192
_LONGEST_BODY: Final = 1 << 29
"""Bytes. No text that an editor opens is as long; memory is asked for before a body is read."""
END: Final = object()
"""Stands in the queue where the input ended; `None` would be a message that says `null`."""

REQUEST_CANCELLED: Final = -32800


@dataclass(frozen=True, slots=True)
class Streams:
    """Where frames come from and go to, both unbuffered in our sense: whole frames only."""

    reading: IO[bytes]
    writing: BinaryIO


def claim_stdio() -> Streams:
    """Takes stdin and stdout for messages alone. Whatever prints from now on, also in C and in children, prints to
    stderr, and nobody else can read our input.
    """
    reading = os.fdopen(os.dup(0), "rb")
    writing = os.fdopen(os.dup(1), "wb")
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    os.dup2(2, 1)
    sys.stdout = sys.stderr
    return Streams(reading, writing)


def accept_tcp(host: str, port: int) -> Streams:
    """Waits for one client at the address and serves it alone; prints the port, which may have been 0."""
    with socket.create_server((host, port)) as listening:
        sys.stderr.write(f"kinetoscope: listening on {host}:{listening.getsockname()[1]}\n")
        sys.stderr.flush()
        connection, _ = listening.accept()
    return Streams(connection.makefile("rb"), connection.makefile("wb"))


def frames(reading: IO[bytes]) -> Iterator[bytes]:
    """The bodies of the frames until the input ends, also in the middle of one.

    A length that is no number, or that nobody means, ends it too (`ValueError`): where the next frame begins is then
    unknown.
    """
    while True:
        lengths: set[bytes] = set()
        while line := reading.readline(_LONGEST_HEADER):
            if not line.endswith(b"\n") and len(line) == _LONGEST_HEADER:
                raise ValueError("a header without an end")
            if not line.strip():
                break
            if line.lower().startswith(_HEADER):
                lengths.add(line[len(_HEADER) :].strip())
        if not line:
            return
        body = reading.read(length := _length(lengths))
        if len(body) < length:
            return
        yield body


def _length(lengths: set[bytes]) -> int:
    if len(lengths) > 1:
        raise ValueError("two lengths for one message")
    text = lengths.pop() if lengths else b"0"
    if not text.isdigit() or len(text) > 20 or int(text) > _LONGEST_BODY:
        raise ValueError(f"a message of {text[:40]!r} bytes")
    return int(text)


class Receiver:
    """Reads frames on a thread of its own and hands the messages to the event loop, in order.

    `cancelled` holds the requests whose cancellation was read but whose turn has not come.
    """

    def __init__(self, reading: IO[bytes], loop: asyncio.AbstractEventLoop) -> None:
        self.messages: asyncio.Queue[Any] = asyncio.Queue()
        self.cancelled: set[int | str] = set()
        self._reading = reading
        self._loop = loop

    def start(self) -> None:
        threading.Thread(target=self._read, name="reader", daemon=True).start()

    def end(self) -> None:
        """As if the input had ended."""
        self.messages.put_nowait(END)

    def _read(self) -> None:
        try:
            for body in frames(self._reading):
                try:
                    message: Any = codec.decoded(body)
                except (ValueError, RecursionError) as error:
                    message = error
                identity = cancelled_by(message)
                if identity is not None:
                    self.cancelled.add(identity)
                self._loop.call_soon_threadsafe(self.messages.put_nowait, message)
        except (OSError, ValueError, MemoryError) as error:
            log.warning("the input cannot be read any further: %s", error)
        finally:
            with contextlib.suppress(RuntimeError):  # the loop has ended while we were reading
                self._loop.call_soon_threadsafe(self.messages.put_nowait, END)


def cancelled_by(message: Any) -> int | str | None:
    """The id of the request that this message cancels; None for other messages and for what is no id."""
    if not isinstance(message, dict):
        return None
    fields = cast("dict[str, Any]", message)
    params = fields.get("params")
    if fields.get("method") != types.CANCEL_REQUEST or not isinstance(params, dict):
        return None
    identity = cast("dict[str, Any]", params).get("id")
    return identity if isinstance(identity, int | str) else None
