"""The exception that ended a script: from what the runner says of it to the problem that people read."""

from collections.abc import Mapping
from typing import Any

import msgspec

from kinetoscope_core.errors import Frame, Problem
from kinetoscope_core.wording import setting

_OUT_OF_MEMORY = ("OutOfMemoryError", "CUDA out of memory")


def failure_problem(said: Mapping[str, Any], interpreter: str) -> Problem:
    """The problem of a failure that `runner/ending/failures.py` describes."""
    kind, message = said["type"], said["message"]
    last = message.splitlines()[0] if message else ""
    text = f"The script failed: {kind}: {last}" if last else f"The script failed: {kind}"
    evidence = {"traceback": said["traceback"]}
    if said["missing"] == "torch":
        evidence["missing"] = "torch"
        text = f"{interpreter} has no torch; name a Python that has it with {setting('interpreter')}"
    elif any(mark in kind or mark in message for mark in _OUT_OF_MEMORY):
        text += ". The GPU's memory was full: free it (see nvidia-smi) or use smaller tensors"
    return Problem(
        "run-failed",
        text.removesuffix(".") + ".",
        evidence,
        said["file"],
        said["line"],
        msgspec.convert(said["frames"], tuple[Frame, ...]),
    )
