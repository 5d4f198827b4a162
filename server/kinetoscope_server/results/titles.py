"""What people call a result: its script, its time and its device."""

from datetime import datetime, timezone
from pathlib import Path
from typing import Final

from kinetoscope_core.results.result import Result
from kinetoscope_core.results.summary import title_of
from kinetoscope_core.text import cut, printable
from kinetoscope_server.results.shown import Shown

LONGEST_TITLE: Final = 60


def result_text(shown: Shown, *, with_seconds: bool = False) -> str:
    """`train.py --layers 2 · 14:32 · NVIDIA H200`, with the beginning of long arguments."""
    title = cut(title_of(shown.result.run, shown.result.traces), LONGEST_TITLE)
    sweep = [f"{shown.setting} of the sweep"] if shown.setting else []
    return " · ".join([title, *sweep, when_text(shown.when, with_seconds=with_seconds), device_text(shown.result)])


def script_text(result: Result, beside: Result) -> str:
    """The script alone, with its folder where another one has the same name."""
    run, other = result.run, beside.run
    if run is None:
        return title_of(None, result.traces)
    path = Path(run.script)
    is_alike = other is not None and Path(other.script).name == path.name and not run.is_module
    return printable("/".join(path.parts[-2:]) if is_alike else path.name)


def device_text(result: Result) -> str:
    """`NVIDIA H200`, `8 × NVIDIA H200` or `CPU only`."""
    if result.device_total_ns is None:
        return "CPU only"
    if result.device is None:
        return "GPU"  # not every trace names the one whose work it holds
    count = f"{result.device.count} × " if result.device.count > 1 else ""
    return count + printable(result.device.name)


def when_text(when: str, *, with_seconds: bool = False, now: datetime | None = None) -> str:
    """ISO 8601 in local time, as short as it is clear: `14:32`, `29 Nov 14:32`, `29 Nov 2025 14:32`."""
    try:
        then = datetime.fromisoformat(when).astimezone()
    except ValueError:
        return printable(when)
    now = (now or datetime.now(timezone.utc)).astimezone()
    day = "" if then.date() == now.date() else f"{then.day} {then:%b} "
    if then.year != now.year:
        day += f"{then.year} "
    return f"{day}{then:%H:%M:%S}" if with_seconds else f"{day}{then:%H:%M}"
