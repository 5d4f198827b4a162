"""Kineto's timestamps as integer nanoseconds.

Base-relative microseconds are floats below 2**43 and exact when whole part and fraction are taken apart; a product
`ts * 1000` is off by 1 ns for a quarter of the values above 2**42. Absolute microseconds with decimals have 19 digits,
which no float64 holds: they have to arrive here as text.
"""

import re
import sys
from collections.abc import Sequence
from decimal import Decimal, InvalidOperation
from struct import pack
from typing import Any, Final, TypeAlias, cast

Time: TypeAlias = int | float | str
"""µs as a file has them; text where a float64 would not hold them."""

# A base-relative time is at most 7,889,238 s: below this a float64 is precise to half a nanosecond.
FLOAT_LIMIT_US: Final = float(2**43)

_ABSOLUTE_TS: Final = re.compile(rb'("ts"\s*:\s*)(-?\d{13,}\.\d+)')
_PLAIN_DECIMAL: Final = re.compile(r"(\d+)(?:\.(\d{1,3}))?")

# The bits of the float64 n * 2**-1074 are those of the integer n, for every n from 0 to below 2**53.
_AS_BITS: Final = 1000 * 2.0**-1074
_UPPER_BYTES: Final = (
    (slice(7, None, 8), slice(6, None, 8)) if sys.byteorder == "little" else (slice(0, None, 8), slice(1, None, 8))
)
_BELOW_2_53: Final = bytes(range(32))  # in the second of them


def ns_from_us(value: Any) -> int:  # noqa: ANN401
    """Nanoseconds of a number of microseconds: int, float or decimal text.

    Raises TypeError or ValueError for what is not a finite number.
    """
    if type(value) is float:
        whole = int(value)
        return whole * 1000 + round((value - whole) * 1000)
    if type(value) is int:
        return value * 1000
    if type(value) is str:
        return _ns_from_text(value)
    message = f"not a time: {value!r}"
    raise TypeError(message)


def packed_ns(values: Sequence[Time]) -> bytes:
    """`ns_from_us` of each value, as the bytes of 64-bit integers, in a fifth of the time where all are numbers.

    One multiplication turns µs into the bits of the ns. It rounds once, to the nearest, so it is as exact.
    """
    count = len(values)
    try:
        packed = pack(f"{count}d", *[value * _AS_BITS for value in cast("Sequence[float]", values)])
    except TypeError:  # text
        return pack(f"{count}q", *map(ns_from_us, values))
    first, second = _UPPER_BYTES
    is_in_range = packed[first].count(0) == count and not packed[second].translate(None, _BELOW_2_53)
    # Libraries built with -ffast-math can make the processor take such small floats as zero.
    if is_in_range and pack("d", count * _AS_BITS) == pack("q", count * 1000):
        return packed
    return pack(f"{count}q", *map(ns_from_us, values))


def with_absolute_times_as_text(text: bytes) -> bytes:
    """The same events with `ts` of 13 digits and more, and decimals, as JSON strings.

    A string value cannot be hit by mistake: inside one, the quotes around `ts` would be escaped.
    """
    return _ABSOLUTE_TS.sub(rb'\1"\2"', text)


def _ns_from_text(text: str) -> int:
    plain = _PLAIN_DECIMAL.fullmatch(text)
    if plain is not None:
        return int(plain[1]) * 1000 + int((plain[2] or "").ljust(3, "0"))
    try:
        return round(Decimal(text) * 1000)
    except (InvalidOperation, OverflowError) as error:
        message = f"not a time: {text!r}"
        raise ValueError(message) from error
