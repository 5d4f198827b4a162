"""What messages call the things that people set: as the command has them, and as editors do."""

from typing import Final

_SETTINGS: Final = {
    "interpreter": "--python (in an editor: the setting kinetoscope.interpreter)",
    "folder": "--cwd (in an editor: the setting kinetoscope.workingDirectory)",
    "warmup": "--warmup (in an editor: the setting kinetoscope.warmupCalls)",
    "budget": "--budget (in an editor: the setting kinetoscope.budgetSeconds)",
    "to_the_end": "--to-the-end (in an editor: the setting kinetoscope.toTheEnd)",
}

WHAT_TO_ADD: Final = (
    'To measure a part of your program, put it into `with torch.profiler.record_function("name"):` (in an editor:'
    " select it and choose Measure this block). --modules (in an editor: Profile modules) measures those of a model."
)


def setting(name: str) -> str:
    """What to call a setting in a message."""
    return _SETTINGS[name]
