"""Names of regions as far as the source tells them: exact, or with gaps for what is only known at run time."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

GAP: Final = "{…}"

Part = str | None
"""A piece of a name: literal text, or `None` for what the source does not tell."""


@dataclass(frozen=True, slots=True)
class NamePattern:
    """A region's name in parts. No two gaps and no two texts are neighbours; `of` sees to that."""

    parts: tuple[Part, ...]

    @classmethod
    def of(cls, parts: Iterable[Part]) -> "NamePattern":
        """The pattern of the parts in a row, neighbours joined."""
        joined: list[Part] = []
        for part in parts:
            if part == "":
                continue
            last = joined[-1] if joined else ""
            if joined and part is None and last is None:
                continue
            if part is not None and last:
                joined[-1] = last + part
            else:
                joined.append(part)
        return cls(tuple(joined))

    @property
    def text(self) -> str:
        """The name to show, `{…}` in each gap."""
        return "".join(GAP if part is None else part for part in self.parts)

    @property
    def exact(self) -> str | None:
        """The name, if the source tells all of it."""
        if len(self.parts) > 1:  # no two texts are neighbours, so one of them is a gap
            return None
        return self.parts[0] if self.parts else ""

    @property
    def literal_length(self) -> int:
        """How many characters are told: of two patterns that match, the longer tells more."""
        return sum(len(part) for part in self.parts if part is not None)

    def matches(self, name: str) -> bool:
        """Whether a name seen at run time can be this one. A gap stands for any text, the empty one included.

        Linear, unlike a regular expression with several `.*`.
        """
        exact = self.exact
        if exact is not None:
            return name == exact
        first, last = self.parts[0] or "", self.parts[-1] or ""
        if len(name) < len(first) + len(last) or not name.startswith(first) or not name.endswith(last):
            return False
        at, end = len(first), len(name) - len(last)
        for part in self.parts[1:-1]:
            if part is not None:
                found = name.find(part, at, end)
                if found < 0:
                    return False
                at = found + len(part)
        return True


UNKNOWN: Final = NamePattern((None,))
