"""The page that a link opens: the template filled in for one trace, and the headers that confine it."""

import re
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape
from importlib.resources import files
from typing import Final
from urllib.parse import urlsplit

from kinetoscope_core.errors import UsageError
from kinetoscope_core.perfetto.zoom import TimeRange, in_perfetto

# Letters that end a source or a directive of a content security policy are not among them.
_ADDRESS: Final = re.compile(r"https?://[A-Za-z0-9.\-_~:/%\[\]]+")

_SOURCE: Final = re.compile(r"[A-Za-z0-9.\-_~:/%\[\]*]+|'self'")

_PLACE: Final = re.compile(r"\{\{(\w+)\}\}")

# For whatever is answered. No Cross-Origin-Opener-Policy: it would cut the page off the window it opens.
COMMON_HEADERS: Final = {
    "Cache-Control": "no-store",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
}
CLOSED_POLICY: Final = "default-src 'none'; frame-ancestors 'none'"


@dataclass(frozen=True, slots=True)
class PerfettoUI:
    """Where the UI is served: `address` ends with a slash; `origin` is the part that messages are checked against."""

    address: str
    origin: str


def perfetto_ui(address: str) -> PerfettoUI:
    """The UI at an http or https address, which may lie below a path. Raises `UsageError` for anything else."""
    try:
        parts = urlsplit(address)
        is_address = _ADDRESS.fullmatch(address) is not None and bool(parts.hostname)
        is_address = is_address and parts.port != 0  # reading the port raises ValueError where it is none
    except ValueError:
        is_address = False
    if not is_address:
        raise UsageError(
            f"{address!r} is not the address of a Perfetto UI. Give one like https://ui.perfetto.dev, without ? and #."
        )
    return PerfettoUI(address.rstrip("/") + "/", _origin(address))


def embedding_sources(texts: Sequence[str]) -> Sequence[str]:
    """The texts, if each is a source of a content security policy. Raises `UsageError` if one is not."""
    for text in texts:
        if not _SOURCE.fullmatch(text):
            raise UsageError(
                f"{text!r} is not a source of pages. Give one like vscode-webview: or https://code.example.org."
            )
    return tuple(texts)


@dataclass(frozen=True, slots=True)
class Page:
    """What one link shows. `embedders` are the sources (as in `frame-ancestors`) that may show the page in a frame."""

    title: str
    file_name: str
    zoom: TimeRange | None
    ui: PerfettoUI
    embedders: Sequence[str]

    def rendered(self) -> tuple[bytes, Mapping[str, str]]:
        """The page and the headers that go with it; its script and style run by a number used once."""
        nonce = secrets.token_urlsafe(16)
        zoom = in_perfetto(self.zoom) if self.zoom else None
        values = {
            "nonce": nonce,
            "title": self.title,
            "file_name": self.file_name,
            "perfetto": self.ui.address,
            # As text: JavaScript's numbers do not hold 19 digits.
            "zoom": f"visStart={zoom.start_ns}&visEnd={zoom.end_ns}" if zoom else "",
        }
        template = files("kinetoscope_core.perfetto").joinpath("launcher.html").read_text(encoding="utf-8")
        text = _PLACE.sub(lambda place: escape(values[place[1]]), template)
        headers = {"Content-Type": "text/html; charset=utf-8", "Content-Security-Policy": self._policy(nonce)}
        return text.encode("utf-8", "backslashreplace"), headers

    def _policy(self, nonce: str) -> str:
        embedders = " ".join(self.embedders) or "'none'"
        return "; ".join(
            (
                "default-src 'none'",
                f"script-src 'nonce-{nonce}'",
                f"style-src 'nonce-{nonce}'",
                "connect-src 'self'",
                f"frame-src {self.ui.origin}",
                "base-uri 'none'",
                "form-action 'none'",
                f"frame-ancestors {embedders}",
            )
        )


def _origin(address: str) -> str:
    """As browsers write it: in small letters, without the port that the scheme implies."""
    parts = urlsplit(address)
    host = parts.netloc.lower()
    return f"{parts.scheme}://{host.removesuffix({'http': ':80', 'https': ':443'}[parts.scheme])}"
