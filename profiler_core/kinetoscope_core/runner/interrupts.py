"""What may break into the main thread: puts off Ctrl-C where nothing must be left half done, and raises from afar."""

import contextlib
import ctypes
import signal
import sys
import threading
from types import FrameType
from typing import Any, Generator, List, Optional, Type


@contextlib.contextmanager
def interrupts_deferred() -> Generator[None, None, None]:
    """While inside, on the main thread, SIGINT waits; then the handler that is set gets it. Other threads get none."""
    before = signal.getsignal(signal.SIGINT) if threading.current_thread() is threading.main_thread() else None
    if before is None or before is signal.SIG_IGN:
        yield
        return
    came: List[int] = []

    def note(number: int, _frame: Optional[FrameType]) -> None:
        came.append(number)

    signal.signal(signal.SIGINT, note)
    try:
        yield
    finally:
        if signal.getsignal(signal.SIGINT) is note:
            signal.signal(signal.SIGINT, before)
        if came:
            signal.raise_signal(signal.SIGINT)


def raise_in_main_thread(kind: Type[BaseException]) -> None:
    """Raises it in the main thread as soon as that executes Python again; a call that blocks is not woken up."""
    ident = ctypes.c_ulong(threading.main_thread().ident or 0)
    ctypes.pythonapi.PyThreadState_SetAsyncExc(ident, ctypes.py_object(kind))


def end_here(kind: Type[BaseException]) -> None:
    """Raises it; under asyncio not in the task that happens to be here, which would be blamed, but in the loop."""
    asyncio: Any = sys.modules.get("asyncio")
    loop: Any = asyncio._get_running_loop() if asyncio is not None else None
    if loop is None:
        raise kind

    def end_loop() -> None:
        raise kind

    loop.call_soon(end_loop)
