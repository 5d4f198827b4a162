"""What messages call the things that people set: on the command line by itself, else as who asked for a job says."""

from collections.abc import Mapping
from typing import Final

_CALLED: Final = {
    "interpreter": "--python",
    "folder": "--cwd",
    "warmup": "--warmup",
    "to_the_end": "--to-the-end",
    "tests": "pytest: kinetoscope profile -m pytest -- FILE",
}


def setting(name: str) -> str:
    """What to call a setting in a message."""
    return _CALLED[name]


def call_settings(names: Mapping[str, str]) -> None:
    """From now on, messages of this process call settings by these names."""
    _CALLED.update(names)
