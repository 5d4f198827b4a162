"""Times, sizes, paths and counts as people read them, and foreign text made harmless."""

import zlib
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Final

_UNITS = ((1, "ns"), (1_000, "µs"), (1_000_000, "ms"), (1_000_000_000, "s"))


def time_text(ns: int) -> str:
    """Three significant digits and the unit that keeps the number between 1 and 999: `19.7 µs`, `214 µs`, `1.00 ms`.

    Whole nanoseconds have no decimals, and thousands of seconds keep all their digits.
    """
    return " ".join(time_parts(ns))


def time_parts(ns: int) -> tuple[str, str]:
    """The number and the unit of `time_text`."""
    if abs(ns) < 1_000:
        return str(ns), "ns"
    for index, (size, unit) in enumerate(_UNITS[1:], start=1):
        text = _three_digits(ns / size)
        if index + 1 == len(_UNITS) or abs(float(text)) < 1_000:
            return text, unit
    raise AssertionError("unreachable: the last unit takes all")


def range_text(values: Iterable[int]) -> str:
    """`1.20–3.40 ms`; both units where they differ, one value where the texts are equal."""
    ordered = sorted(values)
    (least, unit), (most, most_unit) = time_parts(ordered[0]), time_parts(ordered[-1])
    if (least, unit) == (most, most_unit):
        return f"{least} {unit}"
    return f"{least}–{most} {unit}" if unit == most_unit else f"{least} {unit}–{most} {most_unit}"


def _three_digits(value: float) -> str:
    for decimals in (2, 1, 0):
        text = f"{value:.{decimals}f}"
        if sum(character.isdigit() for character in text) <= 3:
            return text
    return f"{value:.0f}"


def size_text(size_bytes: int) -> str:
    """Decimal units, as file managers show them: `4.4 kB`, `185 MB`."""
    if size_bytes < 1_000:
        return f"{size_bytes} B"
    value = float(size_bytes)
    for unit in ("kB", "MB", "GB", "TB"):
        value /= 1_000
        if value < 999.5 or unit == "TB":
            return f"{value:.1f} {unit}" if value < 9.95 else f"{value:.0f} {unit}"
    raise AssertionError("unreachable: the last unit takes all")


LONGEST_NAME: Final = 2_000
"""In characters, of a name in a result: those of real kernels and regions are shorter."""


def short_name(name: str) -> str:
    """A name of at most `LONGEST_NAME` characters; of a longer one the beginning, and what tells it from others."""
    if len(name) <= LONGEST_NAME:
        return name
    mark = zlib.crc32(name.encode("utf-8", "surrogatepass"))
    return f"{name[: LONGEST_NAME - 50]}… ({len(name):,} characters, {mark:08x})"


def cut(text: str, most: int) -> str:
    """The text in at most so many characters, the last of which is then `…`."""
    return text if len(text) <= most else text[: most - 1] + "…"


def printable(text: str) -> str:
    """The same in one line: control characters, lone surrogates and the like are spelled out as in Python's source."""
    if text.isprintable():
        return text
    return "".join(
        character if character.isprintable() else character.encode("unicode_escape").decode() for character in text
    )


def short_path(path: str) -> str:
    """Relative to the working directory where it lies below it."""
    try:
        return printable(str(Path(path).relative_to(Path.cwd())))
    except ValueError:
        return printable(path)


def count_text(count: int, noun: str) -> str:
    """`1 launch`, `5 launches`, `3 regions`."""
    if count == 1:
        return f"1 {noun}"
    if noun.endswith("y"):
        return f"{count} {noun[:-1]}ies"
    return f"{count} {noun}{'es' if noun.endswith(('s', 'ch', 'x')) else 's'}"


def shortlist(names: Sequence[str], most: int = 4) -> str:
    """The first of many names, and how many more: `a, b, c, d and 6 more`."""
    more = len(names) - most
    return printable(", ".join(names[:most])) + (f" and {more} more" if more > 0 else "")
