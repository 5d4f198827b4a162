"""What others wrote, in what is said to people: names of regions, files, devices, settings, lines of errors.

Editors make links of `[text](command:…)` in messages, and VS Code runs such a command at a click, also in a workspace
that is not trusted. So no message of ours has a link in brackets; addresses of traces stand there bare.
"""

import re
from typing import Any, Final, cast

from lsprotocol import types

from kinetoscope_core.text import cut, printable

_LONGEST: Final = 4_000


def plain(text: str) -> str:
    """The text without links in brackets and without control characters, and not longer than people read."""
    lines = (printable(line) for line in cut(text, _LONGEST).split("\n"))
    return "\n".join(lines).replace("](", "] (")


def harmless(data: Any) -> None:
    """Makes plain, in a message that is about to leave, whatever a client shows to people as a message or a title."""
    error = getattr(data, "error", None)
    if error is not None:
        error.message = plain(error.message)
    for shown in (getattr(data, "params", None), getattr(data, "result", None)):
        if not isinstance(shown, types.LogMessageParams):  # a log is for people who look for it, as it is
            _make_plain(shown)
            _make_plain(getattr(shown, "value", None))


def _make_plain(shown: Any) -> None:
    for name in ("message", "title"):
        if isinstance(shown, dict):
            values = cast("dict[str, object]", shown)
            if isinstance(text := values.get(name), str):
                values[name] = plain(text)
        elif isinstance(text := getattr(shown, name, None), str):
            setattr(shown, name, plain(text))


_MARKUP = re.compile(r"[\\`*_{}\[\]<>()#+\-!|~&@]|:(?=//)|(?<=www)\.", re.IGNORECASE)


def escaped(text: str) -> str:
    """Text for Markdown: what would be markup, end a table's cell or become a link is taken literally.

    GitHub's Markdown, which editors show, makes links of bare addresses too: of what begins with `https://` and so on
    or with `www.`, and of e-mail addresses (https://github.github.com/gfm/#autolinks-extension-).
    """
    return _MARKUP.sub(r"\\\g<0>", printable(text))
