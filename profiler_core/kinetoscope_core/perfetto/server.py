"""The server behind the links: one socket on 127.0.0.1, there only while a link lives."""

import contextlib
import logging
import socket
import socketserver
import sys
import threading
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import Any, Final

from kinetoscope_core.errors import TraceError, UsageError
from kinetoscope_core.perfetto.handler import PAGE, Answer, host_in
from kinetoscope_core.perfetto.links import Links
from kinetoscope_core.perfetto.page import Page, embedding_sources, perfetto_ui
from kinetoscope_core.perfetto.zoom import TimeRange

PUBLIC_UI: Final = "https://ui.perfetto.dev"
MOST_CONNECTIONS: Final = 32
"""At once. A browser makes six; what comes beyond is hung up on, and tries again."""
REQUEST_WITHIN_S: Final = 10.0
"""From the connection to the end of its headers, however they come."""
_LOOPBACK: Final = ("127.0.0.1", "localhost", "::1")
_LOOK_AT_CLOCK_EVERY_S: Final = 0.1

_log = logging.getLogger(__name__)


class TraceServer:
    """Gives links to pages that open a trace in Perfetto. May be used by many threads, and closed as a context.

    `clock` counts seconds.
    """

    def __init__(self, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._links = Links(clock)
        self._hosts: set[str] = set(_LOOPBACK)
        self._lock = threading.Lock()
        self._listener: _Listener | None = None

    def link(
        self,
        trace: Path,
        *,
        title: str,
        zoom: TimeRange | None = None,
        perfetto_address: str = PUBLIC_UI,
        embedders: Sequence[str] = (),
    ) -> str:
        """The address of a page that opens the trace in the Perfetto UI at `perfetto_address`, zoomed to `zoom`.

        `embedders` are sources whose pages may show it in a frame, as the policy `frame-ancestors` writes them
        (`vscode-webview:`). Raises `TraceError` where the trace is no file, `UsageError` for a wrong `perfetto_address`
        or embedder.
        """
        ui = perfetto_ui(perfetto_address)
        trace = trace.absolute()
        if not trace.is_file():
            raise TraceError(f"There is no trace {trace}. It may have been deleted to save disk space. Profile again.")
        file_name = trace.name if trace.suffix == ".gz" else f"{trace.name}.gz"
        page = Page(title, file_name, zoom, ui, embedding_sources(embedders))
        with self._lock:
            if self._listener is None:
                listener = _Listener(partial(Answer, self._links, self._hosts))
                listener.serve_while(partial(self._has_work_for, listener))
                self._listener = listener
            # Within the lock: the listener must not find itself without work before the link is there.
            secret = self._links.add(page, trace)
            return f"http://127.0.0.1:{self._listener.port}/{secret}/{PAGE}"

    def trust_host(self, address: str) -> None:
        """Answers requests in the name of that address too: of the proxy or tunnel that carries a link elsewhere.

        Raises `UsageError` where it holds no name.
        """
        host = host_in(address.partition("//")[2].partition("/")[0])
        if not host:
            raise UsageError(f"{address!r} is no address. Give one like https://code.example.org/proxy/.")
        self._hosts.add(host)

    def wait_until_ended(self, timeout_s: float | None = None) -> bool:
        """Waits for the last link to end: for a program that has nothing else to do. Whether it has ended."""
        with self._lock:
            listener = self._listener
        return listener is None or listener.ended.wait(timeout_s)

    def close(self) -> None:
        """Ends all links, and what is being sent. When it returns, nothing listens."""
        with self._lock:
            self._links.revoke_all()
            listener, self._listener = self._listener, None
        if listener:
            listener.ended.wait()

    def __enter__(self) -> "TraceServer":  # noqa: PYI034 - Self came with Python 3.11
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    def _has_work_for(self, listener: "_Listener") -> bool:
        with self._lock:
            if self._listener is listener and not self._links.any_living():
                self._listener = None
            return self._listener is listener


class _Listener(socketserver.ThreadingTCPServer):
    """The socket, on a port that is free, and the thread that waits at it. `ended` when both are gone.

    Not `http.server.HTTPServer`, which asks the name server for its own name.
    """

    daemon_threads = True
    timeout = _LOOK_AT_CLOCK_EVERY_S
    request_queue_size = 64

    def __init__(self, answer: "partial[Answer]") -> None:
        super().__init__(("127.0.0.1", 0), answer)
        self.port: int = self.socket.getsockname()[1]
        self.ended = threading.Event()
        self._free = threading.BoundedSemaphore(MOST_CONNECTIONS)
        self._awaited: dict[socket.socket, float] = {}  # connections whose request is not whole yet, and until when

    def process_request(self, request: Any, client_address: Any) -> None:  # noqa: ANN401
        if self._free.acquire(blocking=False):
            self._awaited[request] = time.monotonic() + REQUEST_WITHIN_S
            super().process_request(request, client_address)
        else:
            self.shutdown_request(request)

    def process_request_thread(self, request: Any, client_address: Any) -> None:  # noqa: ANN401
        try:
            super().process_request_thread(request, client_address)
        finally:
            self._awaited.pop(request, None)
            self._free.release()

    def has_come(self, connection: socket.socket) -> None:
        self._awaited.pop(connection, None)

    def serve_while(self, has_work: Callable[[], bool]) -> None:
        threading.Thread(target=self._serve, args=(has_work,), name="kinetoscope-perfetto", daemon=True).start()

    def handle_error(self, request: Any, client_address: Any) -> None:  # noqa: ANN401, ARG002
        if not isinstance(sys.exc_info()[1], OSError):  # those are browsers that hung up or stalled
            _log.exception("A request for a trace could not be answered.")

    def _serve(self, has_work: Callable[[], bool]) -> None:
        try:
            with self:
                while has_work():
                    self.handle_request()
                    self._hang_up_on_the_slow()
        finally:
            self.ended.set()

    def _hang_up_on_the_slow(self) -> None:
        now_s = time.monotonic()
        for connection, until_s in list(self._awaited.items()):
            if now_s > until_s:
                with contextlib.suppress(OSError):  # it may be closed already
                    connection.shutdown(socket.SHUT_RDWR)
