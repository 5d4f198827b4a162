"""Which parts of a source text are strings and which comments: by the text alone, also while it is broken.

All who cut, repair, compare or search a text take it from here. A string in single quotes ends with its line at last,
one in three quotes may go on to the end of the text. An f-string that holds its own quotes (Python 3.12) is several
strings with code between them.
"""

import re
from typing import Final

# Verbose patterns for flags VERBOSE and DOTALL. Each alternative begins with a plain character: `re` then skips all
# others, eight times as fast. Texts have \n for every line end, or \r\n.
LONG_STRING: Final = rb"""
    \"\"\" (?: [^"\\]+ | \\. | "(?!"") )* (?: \"{3} | \\?\Z )
    | ''' (?: [^'\\]+ | \\. | '(?!'') )* (?: '{3} | \\?\Z )
"""
SHORT_STRING: Final = rb"""
    " (?: [^"\\\n]+ | \\. )* "?
    | ' (?: [^'\\\n]+ | \\. )* '?
"""
STRING: Final = LONG_STRING + b"|" + SHORT_STRING
COMMENT: Final = rb"\#[^\n]*"

_EITHER: Final = re.compile(COMMENT + b"|" + STRING, re.VERBOSE | re.DOTALL)


def strings_and_comments(text: bytes) -> list[tuple[int, int]]:
    """Where each string and each comment starts and ends, in their order."""
    return [match.span() for match in _EITHER.finditer(text)]


def without_comments(text: bytes) -> bytes:
    """The text with its strings and without its comments."""
    return _EITHER.sub(lambda match: b"" if match[0].startswith(b"#") else match[0], text)
