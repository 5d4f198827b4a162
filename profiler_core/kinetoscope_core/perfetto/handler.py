"""HTTP for two names below a secret: the page and its trace. Everything else is not found."""

import os
import socket
import zlib
from collections.abc import Collection, Iterator, Mapping
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler
from typing import Any, BinaryIO, Final, Protocol
from urllib.parse import urlsplit

from kinetoscope_core.perfetto.links import Link, Links
from kinetoscope_core.perfetto.page import CLOSED_POLICY, COMMON_HEADERS
from kinetoscope_core.perfetto.zoom import GZIP_MAGIC

PAGE: Final = "perfetto"
# The page asks for it relative to its own name, since a proxy may put both below a path.
TRACE: Final = "trace"

_PIECE_BYTES: Final = 1 << 18
_GZIP_WINDOW: Final = 31
_STALLED_AFTER_S: Final = 60


class Server(Protocol):
    """What answers need of the server that they are answers of."""

    def has_come(self, connection: socket.socket) -> None:
        """The whole request of that connection was read."""


class Answer(BaseHTTPRequestHandler):
    """One request. The connection ends with it, so that none outlives the server's reason to be there."""

    server: "Server"  # pyright: ignore[reportIncompatibleVariableOverride] - nobody else makes answers
    protocol_version = "HTTP/1.1"
    server_version = "Kinetoscope"
    sys_version = ""
    timeout = _STALLED_AFTER_S

    def __init__(self, links: Links, hosts: Collection[str], *connection: Any) -> None:  # noqa: ANN401
        self._links = links
        self._hosts = hosts
        super().__init__(*connection)

    def do_GET(self) -> None:
        self.close_connection = True
        self.server.has_come(self.connection)
        hosts = self.headers.get_all("Host", [])
        if len(hosts) != 1 or host_in(hosts[0]) not in self._hosts:
            # A foreign site may make its own name lead to 127.0.0.1 (DNS rebinding); its pages still send that name.
            self._say(HTTPStatus.MISDIRECTED_REQUEST, "Kinetoscope does not answer under this name.")
            return
        secret, _, name = self.path.partition("?")[0].removeprefix("/").partition("/")
        with self._links.used(secret) as link:
            if link is None or name not in {PAGE, TRACE}:
                self._say(HTTPStatus.NOT_FOUND, "There is nothing here any more. Open the trace again.")
            elif name == PAGE:
                self._send(HTTPStatus.OK, *link.page.rendered())
            else:
                self._send_trace(link)

    do_HEAD = do_GET  # noqa: N815

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002
        """Says nothing: requests hold the secret."""

    def _say(self, status: HTTPStatus, text: str) -> None:
        headers = {"Content-Type": "text/plain; charset=utf-8", "Content-Security-Policy": CLOSED_POLICY}
        self._send(status, f"{text}\n".encode(), headers)

    def _send(self, status: HTTPStatus, body: bytes, headers: Mapping[str, str]) -> None:
        self._start(status, {**headers, "Content-Length": str(len(body))})
        if self.command != "HEAD":
            self.wfile.write(body)

    def _start(self, status: HTTPStatus, headers: Mapping[str, str]) -> None:
        self.send_response(status)
        for name, value in {**COMMON_HEADERS, **headers, "Connection": "close"}.items():
            self.send_header(name, value)
        self.end_headers()

    def _send_trace(self, link: Link) -> None:
        try:
            file = link.trace.open("rb")
        except OSError:
            self._say(HTTPStatus.GONE, "The trace is no longer stored. Profile again.")
            return
        with file:
            size = os.fstat(file.fileno()).st_size
            is_gzip = file.read(len(GZIP_MAGIC)) == GZIP_MAGIC
            file.seek(0)
            pieces = _pieces_of(file, size, link)
            headers = {
                "Content-Type": "application/gzip",
                "Content-Security-Policy": CLOSED_POLICY,
                "Accept-Ranges": "none",
            }
            if is_gzip:
                self._start(HTTPStatus.OK, {**headers, "Content-Length": str(size)})
                self._send_pieces(pieces, link, is_chunked=False)
            elif self.request_version == "HTTP/1.0":
                # Spoken by some proxies. It has no chunks: the trace ends where the connection does.
                self._start(HTTPStatus.OK, headers)
                self._send_pieces(_compressed(pieces), link, is_chunked=False)
            else:
                self._start(HTTPStatus.OK, {**headers, "Transfer-Encoding": "chunked"})
                self._send_pieces(_compressed(pieces), link, is_chunked=True)

    def _send_pieces(self, pieces: Iterator[bytes], link: Link, *, is_chunked: bool) -> None:
        if self.command == "HEAD":
            return
        for piece in pieces:
            self.wfile.write(b"%x\r\n%b\r\n" % (len(piece), piece) if is_chunked else piece)
        if is_chunked:
            self.wfile.write(b"0\r\n\r\n")
        link.was_sent = True


def host_in(authority: str) -> str:
    """The name in `name:port`, in small letters; empty where it cannot be read."""
    try:
        return urlsplit(f"//{authority}").hostname or ""
    except ValueError:
        return ""


def _pieces_of(file: BinaryIO, size: int, link: Link) -> Iterator[bytes]:
    """The first `size` bytes. Where that cannot be, the connection breaks off, so that the browser sees it."""
    while size > 0:
        piece = file.read(min(size, _PIECE_BYTES))
        if not piece or link.is_revoked:
            raise ConnectionAbortedError
        size -= len(piece)
        yield piece


def _compressed(pieces: Iterator[bytes]) -> Iterator[bytes]:
    """Gzip, which the UI reads as it is: what the browser has to hold shrinks to a tenth.

    On the 2 cores where it was measured, 83 MB/s; the browser starts the UI meanwhile.
    """
    compressor = zlib.compressobj(level=1, wbits=_GZIP_WINDOW)
    for piece in pieces:
        if some := compressor.compress(piece):
            yield some
    yield compressor.flush()
