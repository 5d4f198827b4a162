"""What of a text tree-sitter can take.

Its Python scanner writes its stack of indents into 1,024 bytes, unchecked, and ends the process where they do not fit.
The scanner pushes an indent only where a line is indented further than the one on top, so that a piece with few
different widths never has a deep stack, whatever is broken in it. An indent takes 2 bytes, and the delimiters of
strings up to 257; a width of 2**16 would count as 0 (tree-sitter-python 0.25, src/scanner.c). CPython itself refuses
more than 100 levels. At each line of a run of comments, or of line ends after backslashes, it looks through the rest of
the run: 10,000 comments took 3 s. A line of 10 MB, which is data, took 2 GB of memory and 5 s.
"""

import re
from typing import Final

_MOST_WIDTHS: Final = 300
_WIDEST: Final = (1 << 16) - 1
_TAB: Final = 8
_LONGEST_LINE: Final = 1 << 16
# So many widths need as many bytes, even in tabs.
_SHORT: Final = 6_000

# To the scanner, a line that goes on after a backslash goes on with its indent, too.
_INDENT: Final = re.compile(rb"^(?:[ \t\f\r]|\\\r?\n)+", re.MULTILINE)
_LONG_RUN: Final = re.compile(rb"^(?:[ \t]*\#[^\n]*\n(?:[ \t\r]*\n)*){64,}|(?:\\\r?\n[ \t]*){64,}", re.MULTILINE)
_BLANK: Final = bytes(byte if byte in b"\r\n" else ord(" ") for byte in range(256))


def bearable(text: bytes) -> bytes:
    """The text with the same lines, in which those that are too long are empty, and those that are indented too deep
    are blank, as are long runs of comments and of backslashes.
    """
    if len(text) < _SHORT:
        return text
    if len(text) > _LONGEST_LINE:
        lines = text.split(b"\n")
        if max(map(len, lines)) > _LONGEST_LINE:
            text = b"\n".join(line if len(line) <= _LONGEST_LINE else b"" for line in lines)
    return _without_deep_lines(_LONG_RUN.sub(lambda run: run[0].translate(_BLANK), text))


def _without_deep_lines(text: bytes) -> bytes:
    indents = set(_INDENT.findall(text))
    if len(indents) <= _MOST_WIDTHS and max(map(len, indents), default=0) * _TAB <= _WIDEST:
        return text
    widths = sorted({width for indent in indents if (width := _width(indent)) < _WIDEST})
    widest = widths[:_MOST_WIDTHS][-1] if widths else 0
    pieces: list[bytes] = []
    done = 0
    for match in _INDENT.finditer(text):
        if _width(match[0]) > widest and match.start() >= done:
            end = text.find(b"\n", match.end())
            end = len(text) if end < 0 else end
            pieces += (text[done : match.start()], text[match.start() : end].translate(_BLANK))
            done = end
    return b"".join([*pieces, text[done:]])


def _width(indent: bytes) -> int:
    """As the scanner counts: a form feed or carriage return begins anew."""
    counted = re.split(rb"[\f\r]", indent)[-1]
    return len(counted) - counted.count(b"\\") - counted.count(b"\n") + (_TAB - 1) * counted.count(b"\t")
