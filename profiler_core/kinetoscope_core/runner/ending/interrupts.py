"""What may break into the main thread: puts off Ctrl-C where nothing must be left half done, and raises from afar."""

import contextlib
import ctypes
import signal
import sys
import threading
import weakref
from types import FrameType
from typing import Any, Callable, Dict, Generator, List, Optional, Set, Tuple, Type


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


def raise_in_main_thread(kind: Optional[Type[BaseException]]) -> None:
    """Raises it in the main thread as soon as that executes Python again; a call that blocks is not woken up.

    None takes back what has not arrived yet.
    """
    ident = ctypes.c_ulong(threading.main_thread().ident or 0)
    ctypes.pythonapi.PyThreadState_SetAsyncExc(ident, None if kind is None else ctypes.py_object(kind))


def end_here(kind: Type[BaseException]) -> bool:
    """Raises it; under asyncio not in the task that happens to be here, which would be blamed, but in the loop.

    True where the loop has it before it; a loop is asked once, since it runs again to end its tasks.
    """
    asyncio: Any = sys.modules.get("asyncio")
    loop: Any = asyncio._get_running_loop() if asyncio is not None else None
    if loop is None:
        raise kind
    if loop not in _ending_loops:
        _ending_loops.add(loop)
        _keep_quiet_of(kind, loop)
        loop.call_soon(_end_loop, loop, kind)
    return True


_ending_loops: "weakref.WeakSet[Any]" = weakref.WeakSet()


def _end_loop(loop: Any, kind: Type[BaseException]) -> None:
    _ending_loops.discard(loop)
    raise kind


def _keep_quiet_of(kind: Type[BaseException], loop: Any) -> None:
    """Has the loop say nothing of callbacks that fail because it was ended (streams do, on Python 3.11)."""
    own = loop.get_exception_handler()

    def handle(loop: Any, context: Dict[str, Any]) -> None:
        if is_in_chain((kind,), context.get("exception")):
            return
        if own is None:
            loop.default_exception_handler(context)
        else:
            own(loop, context)

    loop.set_exception_handler(handle)


def is_being_handled(*kinds: Type[BaseException]) -> bool:
    """Whether this thread is in a `finally` or `except` block, or a context's exit, that such an exception led to."""
    return is_in_chain(kinds, sys.exc_info()[1])


def is_in_chain(kinds: Tuple[Type[BaseException], ...], error: Optional[BaseException]) -> bool:
    """Whether it is of these kinds, or came while one of them was handled."""
    seen: Set[int] = set()
    while error is not None and id(error) not in seen:
        if isinstance(error, kinds):
            return True
        seen.add(id(error))
        error = error.__context__
    return False


def interrupt_main_thread() -> bool:
    """Sends it what Ctrl-C sends. False where the process ignores that, as what `nohup` or `&` of a shell start may."""
    if signal.getsignal(signal.SIGINT) in (signal.SIG_IGN, None):
        return False
    if hasattr(signal, "pthread_kill"):
        signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGINT)
    else:
        signal.raise_signal(signal.SIGINT)
    return True


_CALL = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p)
_pending: List[Any] = []


def call_in_main_thread(function: Callable[[], None]) -> None:
    """Has the main thread call it as soon as that executes Python again, whatever the script does there."""

    def call(_nothing: object) -> int:
        function()
        return 0

    _pending.append(_CALL(call))  # Python keeps the address alone
    ctypes.pythonapi.Py_AddPendingCall(_pending[-1], None)


def place_of_main_thread() -> Tuple[int, int]:
    """Where it executes: as long as this stays, it has not come out of a call."""
    frame = sys._current_frames().get(threading.main_thread().ident or 0)
    return (0, 0) if frame is None else (id(frame), frame.f_lasti)
