"""What string literals say, and the gaps in templates of `%` and `.format`, without running anything."""

import re
import string
import unicodedata
from collections.abc import Callable, Sequence

from kinetoscope_core.source.regions.name_patterns import NamePattern, Part

_ESCAPE = re.compile(
    r"\\(?:(?P<line>\n)|(?P<one>[\\'\"abfnrtv])|(?P<octal>[0-7]{1,3})|x(?P<x>[0-9a-fA-F]{2})"
    r"|u(?P<u>[0-9a-fA-F]{4})|U(?P<U>[0-9a-fA-F]{8})|N\{(?P<name>[^}]*)\})"
)
_ONE = {
    "\\": "\\", "'": "'", '"': '"',
    "a": "\a", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v",
}  # fmt: skip
_CONVERSION = re.compile(
    r"%(?P<key>\([^)]*\))?(?P<how>[#0\- +]*(?P<star>\*|\d+)?(?:\.(?:\*|\d+)?)?)[hlL]?(?P<type>[diouxXeEfFgGcrsa%])"
)


def unescaped(text: str) -> str | None:
    """The characters that the inside of a literal stands for; `None` if Python would refuse it."""
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    if "\\" not in text:
        return text
    try:
        return _ESCAPE.sub(_meaning, text)
    except (KeyError, ValueError, OverflowError):
        # An unknown character name, or a code point beyond the last.
        return None


def _meaning(match: re.Match[str]) -> str:
    if match["line"] is not None:
        return ""
    if match["one"] is not None:
        return _ONE[match["one"]]
    if match["name"] is not None:
        return unicodedata.lookup(match["name"])
    if match["octal"] is not None:
        return chr(int(match["octal"], 8))
    return chr(int(match["x"] or match["u"] or match["U"], 16))


def percent_formatted(template: str, values: Sequence[NamePattern] | None) -> NamePattern | None:
    """`template % values` as far as known; `None` for values that can't be told apart, `None` back for no template."""
    parts: list[Part] = []
    done = 0
    taken = 0
    is_aligned = values is not None
    for match in _CONVERSION.finditer(template):
        parts.append(template[done : match.start()])
        done = match.end()
        if match["type"] == "%":
            parts.append("%")
            continue
        is_aligned = is_aligned and match["key"] is None and "*" not in match["how"]
        is_told = is_aligned and match["type"] == "s" and not match["how"]
        if is_told and values is not None and taken < len(values):
            parts += values[taken].parts
        else:
            parts.append(None)
        taken += 1
    parts.append(template[done:])
    return None if "%" in _CONVERSION.sub("", template) else NamePattern.of(parts)


def brace_formatted(template: str, find: Callable[[str], NamePattern | None]) -> NamePattern | None:
    """`template.format(...)` as far as known. `find` gives the argument of a field's name, numbered if it has none."""
    parts: list[Part] = []
    number = 0
    try:
        for text, field, form, conversion in string.Formatter().parse(template):
            parts.append(text)
            if field is None:
                continue
            name = field
            if field == "":
                name, number = str(number), number + 1
            value = None if form or conversion not in {None, "s"} else find(name)
            parts += (None,) if value is None else value.parts
    except ValueError:
        return None
    return NamePattern.of(parts)
