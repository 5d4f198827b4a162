"""The settings of a sweep, from what is varied."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from typing import Final

from kinetoscope_core.errors import UsageError
from kinetoscope_core.results.sweep import Axis
from kinetoscope_core.runner.request import RunRequest
from kinetoscope_core.text import printable

_OPTION: Final = re.compile(r"-[^\d.]")  # a number below 0 is a value, and so is - alone


def axis_of(text: str, *, is_environment: bool = False) -> Axis:
    """`size=64,1024` as an axis. Raises `UsageError` with an example where it is none."""
    name, equals, values = text.partition("=")
    if not equals or not name.strip("-") or any(each.isspace() for each in name):
        example = "OMP_NUM_THREADS=1,4" if is_environment else "size=64,1024,4096"
        raise UsageError(f"{printable(repr(text))} does not say what to vary: NAME=VALUE,VALUE, such as {example}.")
    return Axis(name, tuple(each.strip() for each in values.split(",")), is_environment)


@dataclass(frozen=True, slots=True)
class Grid:
    """All combinations of the values of the axes; the last axis changes fastest. Raises `UsageError`."""

    axes: tuple[Axis, ...]

    def __post_init__(self) -> None:
        if not self.axes:
            raise UsageError("Say what to vary, such as --vary size=64,1024,4096 or --vary-env OMP_NUM_THREADS=1,4.")
        _refuse_twice(
            "", [(axis.name.lstrip("-"), axis.is_environment) for axis in self.axes], [a.name for a in self.axes]
        )
        for axis in self.axes:
            _refuse_twice(f" in {axis.name}", axis.values, axis.values)

    def settings(self) -> list[tuple[str, ...]]:
        """The values of each setting, in the order of the axes."""
        return list(product(*(axis.values for axis in self.axes)))

    def request(self, request: RunRequest, values: Sequence[str]) -> RunRequest:
        """What is to run in a setting: arguments that vary stand where `request` has them, else after the others."""
        arguments, environment = request.arguments, dict(request.environment)
        for axis, value in zip(self.axes, values, strict=True):
            if not axis.is_environment:
                arguments = _with(arguments, axis, value)
            elif value:
                environment[axis.name] = value
        return request._replace(arguments=arguments, environment=environment)


def _with(arguments: Sequence[str], axis: Axis, value: str) -> tuple[str, ...]:
    """The arguments with this value of what varies, in place of those of its name: `--size 9`, `--size=9`."""
    option = axis.name if axis.name.startswith("-") else f"--{axis.name}"
    has_values = any(each not in ("", "yes") for each in axis.values)
    kept: list[str] = []
    place: int | None = None
    is_value = False
    for each in arguments:
        if is_value and not _OPTION.match(each):
            is_value = False
            continue
        is_value = each == option and has_values
        if each == option or each.startswith(f"{option}="):
            place = len(kept) if place is None else place
        else:
            kept.append(each)
    given = () if not value else (option,) if value == "yes" else (option, value)
    place = len(kept) if place is None else place
    return (*kept[:place], *given, *kept[place:])


def _refuse_twice(where: str, keys: Sequence[object], names: Sequence[str]) -> None:
    for index, key in enumerate(keys):
        if key in keys[:index]:
            raise UsageError(f"{printable(names[index]) or 'The empty value'} is varied twice{where}.")
