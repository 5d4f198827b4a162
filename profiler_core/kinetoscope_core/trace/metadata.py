"""What the text around the events says: devices, clock, rank."""

import re
from collections import Counter
from collections.abc import Iterator
from typing import Any, Final, cast

import orjson

from kinetoscope_core.results.measures import Device
from kinetoscope_core.trace.columns import Metadata
from kinetoscope_core.trace.repair import repaired_object

_BASE_TIME: Final = re.compile(rb'"baseTimeNanoseconds"\s*:\s*(\d{1,19})(?!\d)')


def metadata_object(text: bytes, repairs: Counter[str]) -> dict[str, Any] | None:
    """The keys of a part of the file's outer object; `None` if it cannot be read, not even with repairs."""
    try:
        value: object = orjson.loads(text)
    except orjson.JSONDecodeError:
        return repaired_object(text, repairs)
    return cast("dict[str, Any]", value) if isinstance(value, dict) else None


def base_time_in(text: bytes) -> dict[str, Any]:
    """The one thing in unreadable metadata that the times depend on."""
    found = _BASE_TIME.search(text)
    return {} if found is None else {"baseTimeNanoseconds": int(found[1])}


def metadata_from(values: dict[str, Any], *, has_stacks: bool) -> Metadata:
    """What is needed of the metadata; values of unexpected types are taken as not given."""
    distributed = _object(values.get("distributedInfo"))
    trace_id: object = values.get("trace_id")
    host: object = values.get("host_name")
    return Metadata(
        base_time_ns=_integer(values.get("baseTimeNanoseconds")),
        device=_device(values.get("deviceProperties") or values.get("computeProperties")),
        rank=_integer(distributed.get("rank")),
        world_size=_integer(distributed.get("world_size")),
        trace_id=trace_id if isinstance(trace_id, str) else None,
        has_stacks=has_stacks or _integer(values.get("with_stack")) == 1,
        host=host if isinstance(host, str) and host else None,
        groups=dict(_groups(distributed.get("pg_config"))),
    )


def _groups(config: object) -> Iterator[tuple[str, tuple[int, ...]]]:
    for group in cast("list[object]", config) if isinstance(config, list) else ():
        name, ranks = _object(group).get("pg_name"), _object(group).get("ranks")
        if name is not None and isinstance(ranks, list):
            known = cast("list[object]", ranks)
            if all(isinstance(rank, int) for rank in known):
                yield str(name), tuple(cast("list[int]", known))


def _device(properties: object) -> Device | None:
    devices = [_object(each) for each in cast("list[object]", properties)] if isinstance(properties, list) else []
    return Device(str(devices[0].get("name", "")), len(devices)) if devices else None


def _object(value: object) -> dict[str, Any]:
    return cast("dict[str, Any]", value) if isinstance(value, dict) else {}


def _integer(value: object) -> int | None:
    return value if isinstance(value, int) else None
