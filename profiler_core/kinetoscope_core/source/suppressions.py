"""Comments that switch findings off at their region: `# kinetoscope: ignore[CODE, …]`, or `ignore` for all.

Codes may stand in other brackets or in none: a comment switches off no more than it names.
"""

import re
from collections.abc import Container, Iterable
from typing import Final

from kinetoscope_core.source.comments import rows_at
from kinetoscope_core.source.regions import Region, SourceRegions

COMMENT: Final = re.compile(
    rb"#\s*kinetoscope:\s*ignore(?![\w-])(?:\s*(?:[\[({:=]|(?=[^\s#]))([^\])}#]*))?", re.IGNORECASE
)
"""Its group holds the codes; there is none where all are meant: where nothing follows."""


class _All:
    def __contains__(self, code: object) -> bool:
        return True


def ignored_codes(comments: Iterable[bytes]) -> Container[str]:
    """The codes that the comments name; all, where one names none."""
    codes: set[str] = set()
    for comment in comments:
        for found in COMMENT.finditer(comment):
            if found[1] is None:
                return _All()
            codes |= {code.strip().lower() for code in found[1].decode("utf-8", "replace").split(",")}
    return codes


def ignored_at(region: Region, source: SourceRegions) -> Container[str]:
    """The codes that comments at a region of the text switch off."""
    return ignored_codes(map(source.comment, rows_at(region, source)))


def ignored_on_top_of(source: SourceRegions) -> Container[str]:
    """The codes of findings of a whole run that a comment on the first line switches off."""
    return ignored_codes([source.comment(0)])
