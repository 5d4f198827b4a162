"""Close what was left open in a broken piece of Python, so that what surrounds the break parses as it was meant.

tree-sitter recovers from an open bracket by throwing away what follows, often the head of the next function. A reader
goes by line ends, indentation and words that only begin statements, and so does this module: it adds the quote, the
bracket or the colon that an editor would have added. It is used on pieces that do not parse, never on sound ones.
"""

import re
from typing import NamedTuple

from kinetoscope_core.source.syntax.strings_and_comments import COMMENT, LONG_STRING, SHORT_STRING

_TOKEN = re.compile(
    rb"(?P<comment>" + COMMENT + b") |" + LONG_STRING + b"| (?P<string>" + SHORT_STRING + b")"
    rb"""
    | (?P<open> [(\[{] )
    | (?P<close> [)\]}] )
    | (?P<colon> : )
    | \\ \r? \n
    | (?P<line> \n )
    """,
    re.VERBOSE | re.DOTALL,
)
_BEGINNING = re.compile(
    rb"""
    (?P<indent> [ \t\f]* )
    (?P<head>
        (?: async[ \t]+ )? (?: def | class | with | while | for | if | elif | else | try | except | finally ) \b
    )?
    """,
    re.VERBOSE,
)
_STATEMENT = re.compile(
    rb"""
    (?P<indent> [ \t\f]* )
    (?: (?P<hard> @ | (?: async[ \t]+def | def | class | with | while | try | except | finally | elif | return | raise
        | import | assert | del | global | nonlocal | pass | break | continue ) \b )
      | \w )
    """,
    re.VERBOSE,
)
_AFTER_STRING = re.compile(rb"[)\]}]*[ \t]*:?\s*\Z")
_FORMATTED = re.compile(rb"\b[rR]?[fF][rR]?\Z")
_OPEN_GAP = re.compile(rb"(?<!\{)\{(?:\{\{)*[^{}]*\Z")
_CLOSER = {b"(": b")", b"[": b"]", b"{": b"}"}


class Insertion(NamedTuple):
    """`added` belongs at `offset` of the broken text."""

    offset: int
    added: bytes


def repairs(text: bytes) -> list[Insertion]:
    """What to put in, in the order of offsets; empty where nothing was left open. `text` must have no lone CR."""
    found: list[Insertion] = []
    line = _LogicalLine(text, 0)
    for match in _TOKEN.finditer(text):
        kind, token = match.lastgroup, match.group()
        if kind == "line":
            if not line.closers or _begins_statement(text, match.end(), line.indent):
                found += line.ending(match.start())
                line = _LogicalLine(text, match.end())
        elif kind == "comment":
            line.comments.append(match.start())
        elif kind == "string" and (len(token) == 1 or token[-1:] != token[:1]):
            found.append(line.end_string(match.start(), token))
        elif kind == "open":
            line.open(match.start(), token)
        elif kind == "close":
            line.close(token)
        elif kind == "colon":
            line.has_colon |= not line.closers
    return sorted(found + line.ending(len(text)), key=lambda insertion: insertion.offset)


class _LogicalLine:
    """The statement in hand: what it has open, and what it still lacks."""

    __slots__ = ("closers", "comments", "has_colon", "indent", "is_head", "opened", "start", "text")

    def __init__(self, text: bytes, start: int) -> None:
        self.text = text
        beginning = _BEGINNING.match(text, start)
        self.indent = 0 if beginning is None else len(beginning["indent"])
        self.is_head = beginning is not None and beginning["head"] is not None
        self.has_colon = False
        self.closers: list[bytes] = []
        self.opened: list[int] = []
        self.comments: list[int] = []
        self.start = start

    def open(self, offset: int, bracket: bytes) -> None:
        self.closers.append(_CLOSER[bracket])
        self.opened.append(offset)

    def close(self, bracket: bytes) -> None:
        if bracket in self.closers:
            while self.closers.pop() != bracket:
                self.opened.pop()
            self.opened.pop()

    def end_string(self, offset: int, token: bytes) -> Insertion:
        """The quote that ends a string left open. Brackets and a colon at the end of the line are taken as code."""
        code = token.rstrip()
        tail = _AFTER_STRING.search(code, 1) if self.closers else None
        end = len(code) if tail is None else tail.start()
        for character in code[end:]:
            if character == ord(":"):
                self.has_colon = True
            else:
                self.close(bytes([character]))
        gap = b"}" if _FORMATTED.search(self.text, self.start, offset) and _OPEN_GAP.search(code[:end]) else b""
        return Insertion(offset + end, gap + token[:1])

    def ending(self, stop: int) -> list[Insertion]:
        """What is lacking, before `stop`: at the end of the physical line on which the innermost open bracket stands,
        or of the last one if more was announced there by a bracket or a comma.
        """
        opened = self.opened[-1] if self.opened else stop
        end = self._code_end(opened, stop)
        if self.opened and self.text[end - 1 : end] in {b"(", b"[", b"{", b","}:
            end = self._code_end(stop, stop)
        colon = b":" if self.is_head and not self.has_colon else b""
        if not self.closers:
            return [Insertion(end, colon)] if colon else []
        if colon and self.text[end - 1 : end] == b":":
            end, colon = end - 1, b""
        return [Insertion(end, b"".join(reversed(self.closers)) + colon)]

    def _code_end(self, offset: int, stop: int) -> int:
        """Where the code of the physical line of `offset` ends."""
        end = self.text.find(b"\n", offset, stop)
        end = stop if end < 0 else end
        line = self.text.rfind(b"\n", self.start, end) + 1
        end = min([end, *(comment for comment in self.comments if max(line, self.start) <= comment)])
        return max(len(self.text[:end].rstrip()), self.start)


def _begins_statement(text: bytes, offset: int, indent: int) -> bool:
    """Whether a physical line can only be a new statement, though a bracket is open.

    By a word that can't be inside brackets, or by any word no deeper than the line that opened the bracket: nobody
    indents so, and only closing brackets stand there.
    """
    match = _STATEMENT.match(text, offset)
    return match is not None and (match["hard"] is not None or len(match["indent"]) <= indent)
