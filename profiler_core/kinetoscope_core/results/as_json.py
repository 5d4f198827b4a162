"""Values as JSON, whatever texts and sums are in them."""

import json
from dataclasses import fields, is_dataclass
from typing import cast

import orjson


def as_json(values: object, *, is_indented: bool = False) -> bytes:
    """The values and those of dataclasses in them; what cannot be written as UTF-8 is spelled out."""
    options = orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE if is_indented else 0
    try:
        return orjson.dumps(values, option=options)
    except TypeError:  # a lone surrogate in a name, or a path that is not UTF-8
        plain = _without_surrogates(values)
    try:
        return orjson.dumps(plain, option=options)
    except TypeError:  # a sum of more than 64 bits
        return json.dumps(plain, ensure_ascii=False, indent=2 if is_indented else None).encode() + b"\n"


def _without_surrogates(value: object) -> object:
    if isinstance(value, str):
        return value.encode("utf-8", "backslashreplace").decode()
    if is_dataclass(value):
        return {each.name: _without_surrogates(getattr(value, each.name)) for each in fields(value)}
    if isinstance(value, dict):
        return {key: _without_surrogates(each) for key, each in cast("dict[str, object]", value).items()}
    if isinstance(value, list | tuple):
        return [_without_surrogates(each) for each in cast("list[object]", value)]
    return value
