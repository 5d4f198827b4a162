"""Comments that switch findings off at their region: `# kinetoscope: ignore[CODE, …]`, or `ignore` for all.

Codes may stand in other brackets or in none: a comment switches off no more than it names.
"""

import re
from collections.abc import Callable, Container, Iterable
from typing import Final

from kinetoscope_core.source.regions import Region

COMMENT: Final = re.compile(
    rb"#\s*kinetoscope:\s*ignore(?![\w-])(?:\s*(?:[\[({:=]|(?=[^\s#]))([^\])}#]*))?", re.IGNORECASE
)
"""Its group holds the codes; there is none where all are meant: where nothing follows."""


class _All:
    def __contains__(self, code: object) -> bool:
        return True


def ignored_codes(lines: Iterable[bytes]) -> Container[str]:
    """The codes that comments in the lines name; all, where one names none."""
    codes: set[str] = set()
    for line in lines:
        for found in COMMENT.finditer(line):
            if found[1] is None:
                return _All()
            codes |= {code.strip().lower() for code in found[1].decode("utf-8", "replace").split(",")}
    return codes


def ignored_at(region: Region, line_at: Callable[[int], bytes]) -> Container[str]:
    """The codes that comments at the region switch off; `line_at` gives a row's text.

    Those on the lines of its own item alone, since a `with` may have one of another region on each line, and after its
    end, since its name is no comment.
    """
    start, end = region.item if region.decorates is None else region.call  # a decorator's item holds the comment, too
    lines = [line_at(row) for row in range(start.row, end.row)]
    return ignored_codes([*lines, line_at(end.row)[end.column :]])
