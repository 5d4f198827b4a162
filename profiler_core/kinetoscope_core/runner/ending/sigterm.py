"""SIGTERM to the script's process: noted, where Python would die of it at once with all that was measured.

`timeout`, batch systems and service managers send it to every process of a job. The script still finds it unhandled:
`faulthandler` installs its handler beneath the ones that Python knows of. What the script starts dies of it as ever.
"""

import faulthandler
import os
import signal
import threading
from typing import Optional

from ..channel import HIGH_DESCRIPTOR


class Sigterm:
    """Holds SIGTERM from the beginning until `let_go`; not where it is ignored or handled, and not on Windows."""

    def __init__(self) -> None:
        self.descriptor: Optional[int] = None
        """There is something to read once it came."""
        if not hasattr(faulthandler, "register") or signal.getsignal(signal.SIGTERM) is not signal.SIG_DFL:
            return
        self.descriptor, self._writes = map(_out_of_the_way, os.pipe())
        faulthandler.register(signal.SIGTERM, file=self._writes, all_threads=False)
        self._of_thread = threading.local()
        os.register_at_fork(before=self._put_off, after_in_parent=self._take, after_in_child=self._take_in_child)

    def has_come(self) -> bool:
        """Whether it came since this was asked last."""
        try:
            return self.descriptor is not None and bool(os.read(self.descriptor, 1 << 20))
        except OSError:  # nothing there, or closed by the script
            return False

    def let_go(self) -> None:
        """From here on it ends the process, unless the script has a handler of its own."""
        if self.descriptor is not None and signal.getsignal(signal.SIGTERM) is signal.SIG_DFL:
            faulthandler.unregister(signal.SIGTERM)

    @staticmethod
    def die() -> None:
        """Of the one that came, after `let_go`."""
        os.kill(os.getpid(), signal.SIGTERM)

    def _put_off(self) -> None:
        """A child may be sent one before it has let go: it waits until then."""
        self._of_thread.mask = signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGTERM])

    def _take(self) -> None:
        signal.pthread_sigmask(signal.SIG_SETMASK, self._of_thread.mask)

    def _take_in_child(self) -> None:
        self.let_go()
        self._take()


def _out_of_the_way(descriptor: int) -> int:
    """A high number for it, so that the script's own files get their usual ones."""
    import fcntl

    os.set_blocking(descriptor, False)
    try:
        high = fcntl.fcntl(descriptor, fcntl.F_DUPFD_CLOEXEC, HIGH_DESCRIPTOR)
    except OSError:  # a lower limit
        return descriptor
    os.close(descriptor)
    return high
