"""Comments that switch findings off at their region: `# kinetoscope: ignore[CODE, …]`, or `ignore` for all."""

import re
from collections.abc import Container, Iterable
from typing import Final

_COMMENT: Final = re.compile(rb"#\s*kinetoscope:\s*ignore(?:\[([^\]]*)\])?", re.IGNORECASE)


class _All:
    def __contains__(self, code: object) -> bool:
        return True


def ignored_codes(lines: Iterable[bytes]) -> Container[str]:
    """The codes that comments in the lines of a region's statement name; all, where one names none."""
    codes: set[str] = set()
    for line in lines:
        for found in _COMMENT.finditer(line):
            if found[1] is None:
                return _All()
            codes |= {code.strip() for code in found[1].decode("utf-8", "replace").split(",")}
    return codes
