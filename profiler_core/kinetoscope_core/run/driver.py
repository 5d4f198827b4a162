"""NVIDIA's driver and the rights that it gives, seen from outside of CUDA."""

import os
import subprocess
from dataclasses import dataclass
from pathlib import Path

_ANSWERS_WITHIN_S = 15.0
_QUESTION = ("nvidia-smi", "--query-gpu=name,driver_version", "--format=csv,noheader")
_CAP_SYS_ADMIN = 21
_MARKS_OF_CONTAINERS = ("/.dockerenv", "/run/.containerenv")


@dataclass(frozen=True, slots=True)
class Driver:
    """What nvidia-smi and /proc say. `None` is not known. `gpus` are names; `why_none` is given where there are none.

    `counters_restricted`: the driver lets only administrators read performance counters
    (`NVreg_RestrictProfilingToAdminUsers`, in /proc/driver/nvidia/params as `RmProfilingAdminOnly`).
    """

    version: str | None
    gpus: tuple[str, ...]
    why_none: str | None
    counters_restricted: bool | None
    is_administrator: bool | None
    is_container: bool


def driver_here() -> Driver:
    """Starts nvidia-smi, if it is there."""
    version, gpus, why_none = _asked()
    return Driver(version, gpus, why_none, _counters_restricted(), _is_administrator(), _is_container())


def _asked() -> tuple[str | None, tuple[str, ...], str | None]:
    try:
        asked = subprocess.run(
            _QUESTION,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=_ANSWERS_WITHIN_S,
            check=False,
        )
    except FileNotFoundError:
        return None, (), "nvidia-smi is not there"
    except OSError as error:
        return None, (), f"nvidia-smi cannot be started: {error.strerror}"
    except subprocess.TimeoutExpired:
        return None, (), f"nvidia-smi did not answer within {_ANSWERS_WITHIN_S:g} s"
    rows = [line.rsplit(", ", 1) for line in asked.stdout.splitlines() if ", " in line]
    if asked.returncode or not rows:
        lines = [*asked.stdout.strip().splitlines(), *asked.stderr.strip().splitlines()]
        return None, (), f"nvidia-smi says: {lines[0] if lines else f'exit code {asked.returncode}'}"
    return rows[0][1], tuple(name for name, _ in rows), None


def _counters_restricted() -> bool | None:
    for line in _lines_of("/proc/driver/nvidia/params"):
        name, _, value = line.partition(":")
        if name == "RmProfilingAdminOnly":
            return value.strip() != "0"
    return None


def _is_administrator() -> bool | None:
    for line in _lines_of("/proc/self/status"):
        name, _, value = line.partition(":")
        if name == "CapEff":
            return bool(int(value, 16) >> _CAP_SYS_ADMIN & 1)
    return None


def _is_container() -> bool:
    return any(os.path.exists(mark) for mark in _MARKS_OF_CONTAINERS)  # noqa: PTH110 - no error where it is hidden


def _lines_of(path: str) -> list[str]:
    try:
        return Path(path).read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return []
