"""Garbage collection when nobody waits for us.

A full collection looks at every object: 0.1 s with a file of 50,000 lines open, and Python would have it fall on some
keystroke. So there is one when a file or a result has come or gone and nothing happened for a while; what it leaves
is set aside, and those on keystrokes look at what came later alone.
"""

import asyncio
import gc
from typing import Final

AFTER_S: Final = 0.5


class Tidying:
    """Collects once things have come to rest."""

    def __init__(self) -> None:
        self._waiting: asyncio.TimerHandle | None = None

    def soon(self) -> None:
        """Much has come or gone."""
        self._wait()

    def put_off(self) -> None:
        """The user is doing something."""
        if self._waiting is not None:
            self._wait()

    def _wait(self) -> None:
        if self._waiting is not None:
            self._waiting.cancel()
        self._waiting = asyncio.get_running_loop().call_later(AFTER_S, self._tidy)

    def _tidy(self) -> None:
        self._waiting = None
        gc.unfreeze()
        gc.collect()
        gc.freeze()
