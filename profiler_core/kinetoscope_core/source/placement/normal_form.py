r"""Code lines in a form that changes with what the code does, and not with how it is laid out.

Nothing changes with: comments, blank lines, strings that stand alone as a statement (docstrings), spaces between
tokens, line breaks in brackets, the comma before a closing bracket where it makes no tuple, the quotes of a string
that holds neither quotes nor backslashes, line ends, and the width of an indent. That is what a formatter changes on
saving. Everything else counts as a change: names, numbers, operators, the inside of other strings, the order of
statements, and how deep they stand. Where it is unsure it sees a change: stale times are a nuisance, wrong ones a lie.

Goes by tokens and indentation, so it has an answer for broken text too. Texts have \n for every line end.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from keyword import kwlist
from typing import Final, NamedTuple

from kinetoscope_core.source.syntax.strings_and_comments import COMMENT, STRING

_FLAGS = re.VERBOSE | re.DOTALL
_STRUCTURE = re.compile(STRING + b"|" + COMMENT + rb"| \\\n | \( | \[ | \{ | \) | \] | \} | \n", _FLAGS)
_TOKEN = re.compile(
    rb"[bBfFrRtTuU]{0,2} (?:" + STRING + b") |" + COMMENT + rb"| \\\n | [\w\x80-\xff]+ | [^\w\s]", _FLAGS
)
_INDENT = re.compile(rb"[ \t\f]*")
# What begins a statement even where a bracket was left open above it.
_STATEMENT = re.compile(
    rb"""
    [ \t\f]* (?:
        (?P<decorator> @ [ \t]* [A-Za-z_] )
        | (?: async[ \t]+def | def | class | with | while | try | except | finally | elif | return | raise | import
            | assert | del | global | nonlocal | pass | break | continue ) \b
    )
    """,
    re.VERBOSE,
)
_NOT_CALLED: Final = frozenset(word.encode() for word in [*kwlist, "match", "case"])
_PREFIXES: Final = b"bBfFrRtTuU"
_FORMATTING: Final = frozenset(b"fFtT")
_OPENING: Final = frozenset({b"(", b"[", b"{"})
_CLOSING: Final = frozenset({b")", b"]", b"}"})


@dataclass(frozen=True, slots=True)
class CodeLines:
    """The logical lines that do something, each with its row and column, its form, and how deep it stands.

    `functions` has the index of the line of the `def` around each, or its own if it is one; -1 outside functions.
    """

    places: list[tuple[int, int]] = field(default_factory=list[tuple[int, int]])
    forms: list[bytes] = field(default_factory=list[bytes])
    depths: list[int] = field(default_factory=list[int])
    functions: list[int] = field(default_factory=list[int])


class _Line(NamedTuple):
    form: bytes
    column: int
    width: int
    is_definition: bool


def code_lines(text: bytes) -> CodeLines:
    """The logical lines of a text."""
    lines = CodeLines()
    levels: list[int] = []
    functions: list[tuple[int, int]] = []
    for row, line in _logical_lines(text):
        if not line.form:
            continue
        while levels and line.width < levels[-1]:
            levels.pop()
        if not levels or line.width > levels[-1]:
            levels.append(line.width)
        depth = len(levels)
        while functions and functions[-1][0] >= depth:
            functions.pop()
        if line.is_definition:
            functions.append((depth, len(lines.forms)))
        lines.places.append((row, line.column))
        lines.forms.append(line.form)
        lines.depths.append(depth)
        lines.functions.append(functions[-1][1] if functions else -1)
    return lines


def _logical_lines(text: bytes) -> Iterator[tuple[int, _Line]]:
    """Each logical line with its row."""
    start = row = 0
    physical = text.split(b"\n")
    while row < len(physical):
        line = _complete_line(physical[row])
        if line is not None:
            yield row, line
            start += len(physical[row]) + 1
            row += 1
            continue
        end = _end_of_line(text, start)
        yield row, _line(text[start:end])
        row += max(text.count(b"\n", start, end), 1)
        start = end


@lru_cache(maxsize=1 << 16)
def _complete_line(line: bytes) -> _Line | None:
    """What a line says, unless its statement goes on in the next one. Most lines of a text were seen before."""
    ended = line + b"\n"
    return _line(line) if _end_of_line(ended + b")", 0) == len(ended) else None


def _end_of_line(text: bytes, start: int) -> int:
    """Where a logical line ends. An open bracket ends where a statement begins that can't be inside one."""
    open_brackets = 0
    for match in _STRUCTURE.finditer(text, start):
        token = match.group()
        if token in _OPENING:
            open_brackets += 1
        elif token in _CLOSING:
            open_brackets = max(open_brackets - 1, 0)
        elif token == b"\n" and (not open_brackets or _begins_statement(text, match.end(), start)):
            return match.end()
    return len(text)


@lru_cache(maxsize=1 << 16)
def _line(line: bytes) -> _Line:
    form = _form_of(line)
    indent = line[: _width(line, 0)]
    width = len(indent.replace(b"\f", b"").expandtabs(8))
    return _Line(form, len(indent), width, form.startswith((b"def ", b"async def ")))


def _begins_statement(text: bytes, offset: int, line: int) -> bool:
    match = _STATEMENT.match(text, offset)
    if match is None or match["decorator"] is None:
        return match is not None
    # A matrix product goes on deeper than the line it belongs to.
    return _width(text, offset) <= _width(text, line)


def _width(text: bytes, offset: int) -> int:
    match = _INDENT.match(text, offset)
    return 0 if match is None else match.end() - offset


def _form_of(line: bytes) -> bytes:
    """The tokens of a logical line; empty for a line that does nothing."""
    tokens: list[bytes] = []
    brackets: list[tuple[bool, int]] = []
    does_something = False
    is_formatted = False
    commas = 0
    for token in _TOKEN.findall(line):
        is_quoted = b'"' in token or b"'" in token
        if token == b"\\\n":
            continue
        if token[:1] == b"#":
            # Since Python 3.12 an f-string may hold its own quotes: this may be the inside of one.
            if not (is_formatted and is_quoted):
                continue
        elif is_quoted:
            prefix = token[: len(token) - len(token.lstrip(_PREFIXES))]
            is_formatted |= not _FORMATTING.isdisjoint(prefix)
            does_something |= is_formatted
            tokens.append(_with_double_quotes(prefix, token[len(prefix) :]))
            continue
        elif token in _OPENING:
            is_operator = bool(tokens) and _is_operand(tokens[-1])
            brackets.append((token == b"{" or is_operator == (token == b"("), commas))
            commas = 0
        elif token in _CLOSING and brackets:
            makes_no_tuple, outer = brackets.pop()
            if tokens[-1] == b"," and (makes_no_tuple or commas > 1):
                tokens.pop()
            commas = outer
        elif token == b",":
            commas += 1
        does_something = True
        tokens.append(token)
    return b" ".join(tokens) if does_something else b""


def _is_operand(token: bytes) -> bool:
    """Whether a bracket after it calls or subscribes it."""
    if token in _CLOSING:
        return token != b"}"
    is_word = token[:1].isalpha() or token[:1] == b"_" or token[:1] >= b"\x80"
    return is_word and token not in _NOT_CALLED and b'"' not in token


def _with_double_quotes(prefix: bytes, string: bytes) -> bytes:
    content = string[1:-1]
    is_single = len(string) >= 2 and string[:1] == string[-1:] == b"'"
    if is_single and not any(character in content for character in (b"'", b'"', b"\\")):
        string = b'"' + content + b'"'
    return prefix + string
