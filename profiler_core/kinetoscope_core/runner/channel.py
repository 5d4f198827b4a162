"""The line between the runner and the program that started it: JSON over a local socket with a one-time key.

stdout and stderr belong to the script and never carry a message.
"""

import _thread
import collections
import functools
import hmac  # noqa: F401 # pyright: ignore[reportUnusedImport] - else imported at the first call, by the script's path
import os
import select
import threading
from json import dumps, loads
from multiprocessing.connection import Client
from typing import Any, Callable, Dict, Optional, Tuple

ENVIRONMENT_VARIABLE = "KINETOSCOPE_CHANNEL"
HIGH_DESCRIPTOR = 200
Message = Dict[str, Any]


class LineCut(Exception):
    """The script has closed our descriptor (`os.closerange`, a library that makes daemons); the other side is there."""


class Channel:
    """Sends and receives messages; silent in forked children and after the other side has gone.

    Messages of the runner have an `event`, messages to it a `do`.
    """

    def __init__(self, connection: Any = None) -> None:
        self._connection: Any = None
        self._lock = threading.Lock()
        self.is_cut = False
        if connection is not None:
            self.join(connection)
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(after_in_child=self._forget)

    def join(self, connection: Any) -> None:
        """From here on there is somebody to talk to."""
        self._identity = self._identity_of(connection)
        self._connection = connection

    def _forget(self) -> None:
        """In a forked child: it must neither speak for its parent nor keep the line open."""
        connection = self._connection
        self._lock = threading.Lock()
        if connection is not None and self._is_there(connection):
            connection.close()
        self._connection = None

    @staticmethod
    def _identity_of(connection: Any) -> Optional[Tuple[int, int]]:
        """What the descriptor stands for; None where the system has none (Windows), or it is closed."""
        if os.name != "posix":
            return None
        try:
            status = os.fstat(connection.fileno())
        except OSError:
            return None
        return status.st_dev, status.st_ino

    def _is_there(self, connection: Any) -> bool:
        """False once the descriptor is closed or another file's: that must neither be written to nor be closed."""
        if self._identity_of(connection) == self._identity:
            return True
        self.is_cut = True
        self._connection = None
        connection._handle = None  # else its destructor closes the number, whosever it is by now
        return False

    def send(self, event: str, **fields: Any) -> None:
        """Sends one message; a lost line is noticed by `receive`, so it is no error here."""
        connection = self._connection
        if connection is None or not self._is_there(connection):
            return
        data = dumps(dict(fields, event=event)).encode("utf-8")
        try:
            with self._lock:
                connection.send_bytes(data)
        except OSError:
            self._connection = None

    def receive(self, timeout: Optional[float]) -> Optional[Message]:
        """The next message, None when `timeout` seconds passed without one.

        Raises `EOFError` once the other side has gone, and `LineCut`.
        """
        connection = self._connection
        if connection is not None and self._is_there(connection):
            try:
                return loads(connection.recv_bytes()) if _has_news(connection, timeout) else None
            except (OSError, EOFError, TypeError, ValueError):  # closed by the script, it fails in any of these ways
                self._is_there(connection)
        raise LineCut if self.is_cut else EOFError

    def when_heard(self, call: Callable[[Any], None], look_s: float, also: Optional[int] = None) -> bool:
        """Calls it on another thread once there is something to receive, or to read from the descriptor `also`; that
        waits in C, so that no profiler which records stacks shows a Python frame of ours. False where that cannot be
        done (Windows); looks every `look_s`.
        """
        connection = self._connection
        if connection is None or not hasattr(select, "poll"):
            return False
        poller = select.poll()
        poller.register(connection.fileno(), select.POLLIN)  # of a closed one it says so
        if also is not None:
            poller.register(also, select.POLLIN)
        heard = filter(None, iter(functools.partial(poller.poll, int(look_s * 1000)), None))
        _thread.start_new_thread(collections.deque, (map(call, heard), 0))
        return True


def _has_news(connection: Any, timeout: Optional[float]) -> bool:
    """As `connection.poll`, which looks at `time.monotonic`, and so at what the script may have put in its place."""
    if not hasattr(select, "poll"):  # Windows
        return bool(connection.poll(timeout))
    waiting = select.poll()
    waiting.register(connection.fileno(), select.POLLIN)
    return bool(waiting.poll(None if timeout is None else timeout * 1000))


def connect() -> Channel:
    """Connects as the environment says, and removes what it says from the environment."""
    return Channel(connection_to(*loads(os.environ.pop(ENVIRONMENT_VARIABLE))))


def connection_to(address: Any, key: str) -> Any:
    """A line to who listens there. Raises `OSError` and `EOFError`."""
    place = address if isinstance(address, str) else tuple(address)
    return _out_of_the_way(Client(place, authkey=bytes.fromhex(key)))


def _out_of_the_way(connection: Any) -> Any:
    """The same line under a high file descriptor, so that the script's own files get their usual numbers."""
    try:
        import fcntl

        high = fcntl.fcntl(connection.fileno(), fcntl.F_DUPFD_CLOEXEC, HIGH_DESCRIPTOR)
    except (ImportError, OSError):  # Windows, or a lower limit
        return connection
    moved = type(connection)(high)
    connection.close()
    return moved
