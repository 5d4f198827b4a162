"""Text that is almost JSON made readable. Used only on slices that orjson refused.

What Kineto and other writers leave behind: quotes and backslashes that were not escaped, raw control characters, bytes
that are not UTF-8, NaN and Infinity, trailing commas, lone surrogates.
"""

import json
import re
from collections import Counter
from typing import TYPE_CHECKING, Any, Final, cast

import orjson

from kinetoscope_core.trace.schema import EVENT_KEYS

if TYPE_CHECKING:
    from collections.abc import Callable

Event = dict[str, Any]

QUOTE: Final = "unescaped-quote"
BACKSLASH: Final = "unescaped-backslash"
CONTROL: Final = "control-character"
NOT_UTF8: Final = "not-utf8"
NOT_A_NUMBER: Final = "not-a-number"
TRAILING_COMMA: Final = "trailing-comma"
LONE_SURROGATE: Final = "lone-surrogate"
UNREADABLE: Final = "unreadable-event"

# What can follow the list of events: a key, the end of the object around it, or nothing.
AFTER_LIST: Final = r'\s*(?:,\s*"[^"\\]{1,80}"\s*:|\}[\s}]*$|$)'

_EVENT_BORDER: Final = re.compile(rb'\}\s*,\s*(?=\{\s*"(?:%b)"\s*:)' % "|".join(EVENT_KEYS).encode())
# The quote before the colon makes this hit values only, never the inside of a string.
_NAN_VALUE: Final = re.compile(rb'((?<!\\)"\s*:\s*)[+-]?(?:NaN|nan|Infinity|inf|Inf|INF)(?=\s*[,}\]])')
_ARRAY_END: Final = re.compile(rf"\s*(?:(,)\s*)?\](?={AFTER_LIST})")
_DAMAGED_END: Final = re.compile(rf"\}}\s*(?:,\s*)?\]({AFTER_LIST})".encode())
_BETWEEN: Final = b", \t\r\n"
_LONGEST_WAITING: Final = 4096

# One without an end goes on to the end: else each quote in it would be tried, each through all that follows.
_STRING: Final = r'"[^"\\]*(?:\\.[^"\\]*)*(?:"|\\?\Z)'
_STRING_TOKEN: Final = re.compile(_STRING, re.DOTALL)
_STRING_OR_NAN: Final = re.compile(_STRING + r"|[+-]?\b(?:NaN|nan|Infinity|inf|Inf|INF)\b", re.DOTALL)
_STRING_OR_TRAILING_COMMA: Final = re.compile(_STRING + r"|,(?=\s*[}\]])", re.DOTALL)
_EVENT_KEY: Final = "|".join(EVENT_KEYS)
_BACKSLASH_AT_END: Final = re.compile(rf'(?<!\\)((?:\\\\)*)\\"(?=\s*,\s*"(?:{_EVENT_KEY})"\s*:)')
_ESCAPE: Final = re.compile(r'\\(?:u[0-9a-fA-F]{4}|["\\/bfnrt])|\\')
_KEPT_ESCAPE: Final = re.compile(r'\\["\\]|\\')
_CONTROL_CHARACTER: Final = re.compile(r"[\x00-\x1f]")
_SURROGATE: Final = re.compile(r"[\ud800-\udfff]")

_COLON: Final = re.compile(r"\s*:")
_CLOSERS: Final = {"{": re.compile(r"\s*\}"), "[": re.compile(r"\s*\]")}
_NEXT_KEY: Final = re.compile(r'\s*,\s*"[^"]{1,80}"\s*:')
_NEXT_ITEM: Final = re.compile(r'\s*,\s*["\[{\dtfn-]')

# An event is some hundred bytes; what is longer than this is not one, and guessing at its quotes would take long.
_LONGEST_REPAIR: Final = 1 << 20

# What may follow an event; anything else means that it was not read to its end.
_AFTER_EVENT: Final = re.compile(rf"\s*(?:$|(?:,\s*)?\](?={AFTER_LIST})|,\s*\{{)")


def cleaned(text: bytes, counts: Counter[str]) -> bytes:
    """The text without bytes that are not UTF-8 and without NaN values: what can be repaired a slice at a time."""
    cleaned_text, number = _NAN_VALUE.subn(rb"\1null", text)
    counts[NOT_A_NUMBER] += number
    decoded = cleaned_text.decode("utf-8", "replace")
    replaced = decoded.count("�") - cleaned_text.count("�".encode())
    if replaced:
        counts[NOT_UTF8] += replaced
        cleaned_text = decoded.encode()
    return cleaned_text


def repaired_events(text: bytes, counts: Counter[str], *, at_end: bool) -> tuple[list[Event], bytes | None]:
    """The events of a damaged slice one by one, and what follows the list of events if the list ends in it.

    Events beyond repair are left out and counted; the last one of a cut-off file is left out without being counted.
    """
    events: list[Event] = []
    position = 0
    # An object inside an event can look like a border: then the event goes on in the next piece. With each doubling of
    # the pieces it is tried, as a name may hold nothing but what looks like borders.
    waiting, pieces, tried = b"", 0, 0
    borders = [border.start() + 1 for border in _EVENT_BORDER.finditer(text)]
    for end in (*borders, len(text)):
        piece = text[position:end]
        position = end
        if waiting and _is_event(piece.lstrip(_BETWEEN)):
            left, tail = _take_events(waiting, events, counts) if tried < pieces else (waiting, None)
            if tail is not None:
                return events, tail + piece + text[end:]
            counts[UNREADABLE] += bool(left)
            waiting, pieces = b"", 0
        waiting, pieces = (waiting + piece).lstrip(_BETWEEN), pieces + 1
        if pieces & (pieces - 1) and end < len(text) and len(waiting) < _LONGEST_WAITING:
            continue
        left, tail = _take_events(waiting, events, counts)
        waiting, tried = b"", pieces
        if tail is not None:
            return events, tail + text[end:]
        pieces = pieces if left else 0
        if not left:
            continue
        if end < len(text):
            if len(left) < _LONGEST_WAITING:
                waiting = left
            else:
                counts[UNREADABLE] += 1
                pieces = 0
            continue
        ending = _DAMAGED_END.search(left)
        if ending is not None:
            counts[UNREADABLE] += 1
            return events, left[ending.start(1) :]
        counts[UNREADABLE] += not at_end
    return events, None


def _take_events(piece: bytes, events: list[Event], counts: Counter[str]) -> tuple[bytes, bytes | None]:
    """Moves events from a text to the list; gives what could not be read, and what follows the end of the list."""
    while piece:
        try:
            events.append(orjson.loads(piece))
        except orjson.JSONDecodeError:
            found = _first_value(piece, counts)
        else:
            break
        if found is None:
            return piece, None
        event, after = found
        events.append(event)
        ending = _ARRAY_END.match(after)
        if ending is not None:
            counts[TRAILING_COMMA] += ending[1] is not None
            return b"", after[ending.end() :].encode()
        piece = after.encode().lstrip(_BETWEEN)
    return b"", None


def _is_event(piece: bytes) -> bool:
    try:
        value: object = orjson.loads(piece)
    except orjson.JSONDecodeError:
        return False
    return isinstance(value, dict) and "ph" in value


def repaired_object(text: bytes, counts: Counter[str]) -> dict[str, Any] | None:
    """One JSON object out of damaged text, `None` when it is beyond repair."""
    found = _first_value(text, counts)
    return found[0] if found is not None and not found[1].strip() else None


def _first_value(piece: bytes, counts: Counter[str]) -> tuple[dict[str, Any], str] | None:
    """The first object of a text and what stands after it; counts what was wrong with it."""
    text = piece.decode("utf-8", "replace")
    wrong: list[str] = [NOT_UTF8] if text.count("�") != piece.count("�".encode()) else []
    repairs: tuple[tuple[str, Callable[[str], str]], ...] = (
        ("", lambda damaged: damaged),
        (NOT_A_NUMBER, _with_null_for_nan),
        (BACKSLASH, _with_escaped_backslashes),
        (TRAILING_COMMA, _without_trailing_commas),
        (QUOTE, _with_escaped_quotes),
    )
    for code, repair in repairs:
        if code == QUOTE and len(text) > _LONGEST_REPAIR:
            return None
        better = repair(text)
        if code:
            if better == text:
                continue
            wrong.append(code)
            text = better
        constants: list[str] = []
        try:
            value, end = json.JSONDecoder(strict=False, parse_constant=constants.append).raw_decode(text)
        except (ValueError, RecursionError):
            continue
        if not _AFTER_EVENT.match(text, end):
            continue
        if constants and NOT_A_NUMBER not in wrong:
            wrong.append(NOT_A_NUMBER)
        if not isinstance(value, dict):
            return None
        event = cast("dict[str, Any]", value)
        if any(_CONTROL_CHARACTER.search(string[0]) for string in _STRING_TOKEN.finditer(text[:end])):
            wrong.append(CONTROL)
        if _replace_surrogates(event):
            wrong.append(LONE_SURROGATE)
        counts.update(wrong)
        return event, text[end:]
    return None


def _with_null_for_nan(text: str) -> str:
    return _STRING_OR_NAN.sub(lambda found: found[0] if found[0].startswith('"') else "null", text)


def _without_trailing_commas(text: str) -> str:
    return _STRING_OR_TRAILING_COMMA.sub(lambda found: found[0] if found[0].startswith('"') else "", text)


def _with_escaped_backslashes(text: str) -> str:
    text = _BACKSLASH_AT_END.sub(r'\1\\\\"', text)
    return _STRING_TOKEN.sub(lambda string: _unescaped_string(string[0]), text)


def _unescaped_string(string: str) -> str:
    r"""A writer that leaves `\U` alone escapes nothing: then `\n` in the same string is a folder too."""
    if all(escape != "\\" for escape in _ESCAPE.findall(string)):
        return string
    return _KEPT_ESCAPE.sub(lambda found: found[0] if len(found[0]) == 2 else "\\\\", string)


def _with_escaped_quotes(text: str) -> str:
    """Each string ends at the first quote after which JSON can go on; quotes before that one belong to the string."""
    pieces: list[str] = []
    brackets: list[str] = []
    position = 0
    last_mark = ""
    while (opening := text.find('"', position)) >= 0:
        between = text[position:opening]
        for mark in between:
            if mark in "{[":
                brackets.append(mark)
            elif mark in "}]" and brackets:
                brackets.pop()
            if not mark.isspace():
                last_mark = mark
        is_key = brackets[-1:] == ["{"] and last_mark in "{,"
        closing = opening + 1
        while (closing := text.find('"', closing)) >= 0:
            if not _is_escaped(text, closing, opening) and _goes_on(text, closing + 1, brackets, is_key=is_key):
                break
            closing += 1
        if closing < 0:
            break
        inside = re.sub(r'(?<!\\)((?:\\\\)*)"', r"\1\\" + '"', _unescaped_string(text[opening + 1 : closing]))
        pieces += (between, '"', inside, '"')
        last_mark = '"'
        position = closing + 1
    pieces.append(text[position:])
    return "".join(pieces)


def _is_escaped(text: str, quote: int, opening: int) -> bool:
    before = quote
    while before > opening + 1 and text[before - 1] == "\\":
        before -= 1
    return (quote - before) % 2 == 1


def _goes_on(text: str, position: int, brackets: list[str], *, is_key: bool) -> bool:
    """Whether an event can go on at a position, right after a string inside these open brackets."""
    if is_key:
        return _COLON.match(text, position) is not None
    still_open = len(brackets)
    while still_open and (closer := _CLOSERS[brackets[still_open - 1]].match(text, position)) is not None:
        still_open -= 1
        position = closer.end()
    if not still_open:
        return _AFTER_EVENT.match(text, position) is not None
    return (_NEXT_KEY if brackets[still_open - 1] == "{" else _NEXT_ITEM).match(text, position) is not None


def _replace_surrogates(event: dict[str, Any]) -> bool:
    """Names are compared and printed: what cannot be encoded has to go. True if there was any."""
    found = False
    for key, value in event.items():
        if isinstance(value, str) and _SURROGATE.search(value):
            event[key] = _SURROGATE.sub("�", value)
            found = True
    return found
