"""What an import can see and change in a process, beyond `sys.modules`: compared before and after, by its name."""

import _locale
import atexit
import builtins
import faulthandler
import gc
import logging
import multiprocessing.context
import os
import random
import signal
import sys
import threading
import warnings
from operator import attrgetter
from types import ModuleType
from typing import Any, Callable, Dict, Iterable, List, MutableMapping, Optional, Sequence, Tuple

NOT_SEEN = ("threads", "sys.path", "the state of random")
"""By the import of torch: threads and numbers drawn are nothing to it, and of paths the modules count that they hold.
What it leaves of them itself counts."""

TAKEN_BACK = ("finders", "exit handlers")
"""With what was imported. Exit handlers of the library stay: a script that has its own before torch runs plain."""


def surroundings() -> Dict[str, Any]:
    """As they are now. Holds what it names, so that nothing else can come to have its identity."""
    root = logging.root
    method = attrgetter("_default_context._actual_context")(multiprocessing.context)
    monitoring: Any = getattr(sys, "monitoring", None)  # of Python 3.12 and newer
    return {
        "the working directory": _unless_missing(os.getcwd),
        "the processors that it may use": _unless_missing(lambda: os.sched_getaffinity(0)),
        "the start method of multiprocessing": None if method is None else method.get_start_method(),
        "signal handlers": [*map(signal.getsignal, sorted(signal.valid_signals())), faulthandler.is_enabled()],
        "hooks": (
            attrgetter("excepthook", "displayhook", "unraisablehook")(sys),
            (threading.excepthook, warnings.showwarning, *sys.get_asyncgen_hooks()),
        ),
        "tracing functions": (
            (sys.gettrace(), sys.getprofile(), *attrgetter("_trace_hook", "_profile_hook")(threading)),
            () if monitoring is None else [monitoring.get_tool(number) for number in range(6)],
        ),
        "streams": (sys.stdin, sys.stdout, sys.stderr),
        "limits": (
            (sys.getrecursionlimit(), sys.getswitchinterval(), sys.dont_write_bytecode, threading.stack_size()),
            (gc.isenabled(), gc.get_threshold(), getattr(sys, "getdlopenflags", int)()),
            _resource_limits(),
        ),
        "logging": (
            attrgetter("lastResort", "raiseExceptions", "_loggerClass", "_logRecordFactory")(logging),
            (root.level, *root.handlers, *root.filters, root.manager.disable, root.manager.loggerClass),
        ),
        "the locale": _locale.setlocale(_locale.LC_ALL),
        "the builtins": dict(vars(builtins)),
        "finders": list(sys.meta_path),
        "how modules are found": list(sys.path_hooks),
        "exit handlers": atexit._ncallbacks(),
        "the state of random": random.getstate(),
        "threads": [thread for thread in threading.enumerate() if thread.name != "kinetoscope"],
        "sys.path": list(sys.path),
    }


def _unless_missing(function: Callable[[], Any]) -> Any:
    """None where there is no folder any more, or no such function on this system."""
    try:
        return function()
    except (OSError, AttributeError):
        return None


def _resource_limits() -> Tuple[Any, ...]:
    try:
        import resource
    except ImportError:  # Windows
        return ()
    return tuple(resource.getrlimit(value) for name, value in vars(resource).items() if name.startswith("RLIMIT_"))


def first_difference(before: Dict[str, Any], besides: Sequence[str]) -> Optional[str]:
    """The name of the first of the surroundings, `besides` these, that is not now as it was before."""
    now = surroundings()
    return next((name for name in now if name not in besides and before[name] != now[name]), None)


Change = Tuple[Any, str, Any, Any]
"""What holds it, its name, what it was and what it is; None where there is nothing of that name."""


class KnownNames:
    """What stands in these mappings, and the functions and classes of these modules with the methods of the classes."""

    def __init__(self, modules: Iterable[ModuleType], mappings: Iterable[Any] = ()) -> None:
        self._known: List[Tuple[Any, Dict[str, Any]]] = [(mapping, dict(mapping)) for mapping in mappings]
        for module in modules:
            known = _callables(module)
            self._known.append((module, known))
            classes = [each for each in known.values() if isinstance(each, type) and each.__module__ == module.__name__]
            self._known += [(each, _callables(each)) for each in classes]

    def changes(self) -> List[Change]:
        """What is another one now. What a module has besides does not count: more of its submodules may be loaded."""
        found: List[Change] = []
        for holder, known in self._known:
            now = dict(holder) if _is_mapping(holder) else _callables(holder, also=known)
            names = known if isinstance(holder, ModuleType) else {**known, **now}
            pairs = [(name, known.get(name), now.get(name)) for name in names]
            found += [(holder, name, a, b) for name, a, b in pairs if a is not b and not (type(a) is str and a == b)]
        return found


def put(holder: Any, name: str, value: Any) -> None:
    """Has what is held under this name be that; None removes it."""
    if _is_mapping(holder):
        holder.update({name: value}) if value is not None else holder.pop(name)
    else:
        setattr(holder, name, value) if value is not None else delattr(holder, name)


def _is_mapping(holder: Any) -> bool:
    return isinstance(holder, MutableMapping)


def _callables(holder: Any, also: Iterable[str] = ()) -> Dict[str, Any]:
    values: Dict[str, Any] = dict(vars(holder))  # pyright: ignore[reportUnknownArgumentType]
    return {name: value for name, value in values.items() if callable(value) or name in also}
