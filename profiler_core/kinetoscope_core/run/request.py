"""What a runner is asked to run, as the message that it gets."""

from pathlib import Path
from typing import Any

from kinetoscope_core.run.config import RunConfig, Span
from kinetoscope_core.run.process import RunnerProcess


def message_of(config: RunConfig, folder: Path, runner: RunnerProcess) -> dict[str, Any]:
    """The message for this run; trace and log are to be left in `folder`. `runner/start.py` reads it."""
    focus = config.focus
    return {
        "do": "run",
        "run_id": runner.id,
        "own_group": not runner.shares_terminal,
        "folder": str(folder),
        "module": config.script if config.is_module else None,
        "script": None if config.is_module else config.script,
        "arguments": list(config.arguments),
        "warmup": config.warmup,
        "active": config.active,
        "to_the_end": config.to_the_end,
        "budget_s": config.budget_s,
        "focus_name": focus.name if focus else "",
        "focus_places": [_values(span) for span in focus.places] if focus else [],
        "known_places": [_values(span) for span in config.known_places],
    }


def _values(span: Span) -> tuple[str, int, int]:
    return span.file, span.first, span.last
