"""Kineto's timestamps as integer nanoseconds.

Base-relative microseconds are floats below 2**43 and exact when whole part and fraction are taken apart; a product
`ts * 1000` is off by 1 ns for a quarter of the values above 2**42. Absolute microseconds with decimals have 19 digits,
which no float64 holds: they have to arrive here as text.
"""

import re
from decimal import Decimal, InvalidOperation
from typing import Any, Final

# A base-relative time is at most 7,889,238 s: below this a float64 is precise to half a nanosecond.
FLOAT_LIMIT_US: Final = float(2**43)

_ABSOLUTE_TS: Final = re.compile(rb'("ts"\s*:\s*)(-?\d{13,}\.\d+)')
_PLAIN_DECIMAL: Final = re.compile(r"(\d+)(?:\.(\d{1,3}))?")


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
