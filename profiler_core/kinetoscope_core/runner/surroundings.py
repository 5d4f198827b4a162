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
from types import ModuleType
from typing import Any, Dict, Iterable, List, Optional, Tuple

NOT_SEEN = ("threads", "sys.path", "the state of random")
"""By the import of torch: threads and numbers drawn are nothing to it, and of paths the modules count that they hold.
What it leaves of them itself counts."""


def surroundings() -> Dict[str, Any]:
    """As they are now. Holds what it names, so that nothing else can come to have its identity."""
    own_logging: Any = logging
    own_threading: Any = threading
    contexts: Any = multiprocessing.context
    method = contexts._default_context._actual_context
    return {
        "the working directory": _folder(),
        "the processors that it may use": os.sched_getaffinity(0) if hasattr(os, "sched_getaffinity") else None,
        "the start method of multiprocessing": None if method is None else method.get_start_method(),
        "signal handlers": (
            [signal.getsignal(number) for number in sorted(signal.valid_signals())],
            faulthandler.is_enabled(),
        ),
        "hooks": (
            sys.excepthook,
            sys.displayhook,
            sys.unraisablehook,
            threading.excepthook,
            warnings.showwarning,
            tuple(sys.get_asyncgen_hooks()),
        ),
        "tracing functions": (
            sys.gettrace(),
            sys.getprofile(),
            own_threading._trace_hook,
            own_threading._profile_hook,
            _monitoring_tools(),
        ),
        "streams": (sys.stdin, sys.stdout, sys.stderr),
        "limits": (
            sys.getrecursionlimit(),
            sys.getswitchinterval(),
            gc.isenabled(),
            gc.get_threshold(),
            sys.getdlopenflags() if hasattr(sys, "getdlopenflags") else None,
            sys.dont_write_bytecode,
            threading.stack_size(),
            _resource_limits(),
        ),
        "logging": (
            logging.root.level,
            tuple(logging.root.handlers),
            tuple(logging.root.filters),
            logging.root.manager.disable,
            logging.root.manager.loggerClass,
            logging.getLoggerClass(),
            logging.getLogRecordFactory(),
            logging.lastResort,
            own_logging.raiseExceptions,
        ),
        "the locale": _locale.setlocale(_locale.LC_ALL),
        "the builtins": dict(vars(builtins)),
        "how modules are found": (list(sys.meta_path), list(sys.path_hooks)),
        "exit handlers": atexit._ncallbacks(),
        "the state of random": random.getstate(),
        "threads": threading.enumerate(),
        "sys.path": list(sys.path),
    }


def _folder() -> Optional[str]:
    try:
        return os.getcwd()
    except OSError:
        return None


def _monitoring_tools() -> Tuple[Any, ...]:
    """Python 3.12 and newer."""
    monitoring: Any = getattr(sys, "monitoring", None)
    return () if monitoring is None else tuple(monitoring.get_tool(number) for number in range(6))


def _resource_limits() -> Tuple[Any, ...]:
    try:
        import resource
    except ImportError:  # Windows
        return ()
    names = sorted(name for name in vars(resource) if name.startswith("RLIMIT_"))
    return tuple(resource.getrlimit(getattr(resource, name)) for name in names)


def first_difference(before: Dict[str, Any], now: Dict[str, Any], names: Iterable[str]) -> Optional[str]:
    """The name of the first of these that is not as it was."""
    return next((name for name in names if before[name] != now[name]), None)


class Functions:
    """The functions and classes of these modules and the methods of their classes, as they are now."""

    def __init__(self, modules: Iterable[ModuleType]) -> None:
        self._known: List[Tuple[Any, Dict[str, Any]]] = []
        self.add(modules)

    def add(self, modules: Iterable[ModuleType]) -> None:
        for module in modules:
            known = {name: value for name, value in vars(module).items() if callable(value)}
            self._known.append((module, known))
            for value in known.values():
                if isinstance(value, type) and value.__module__ == module.__name__:
                    methods = {name: method for name, method in vars(value).items() if callable(method)}
                    self._known.append((value, methods))

    def replaced(self) -> List[Tuple[Any, str, Any, Any]]:
        """What is another one now: the module or class that holds it, its name, as it was and as it is (maybe None)."""
        found: List[Tuple[Any, str, Any, Any]] = []
        for holder, known in self._known:
            now: Dict[str, Any] = dict(vars(holder))  # pyright: ignore[reportUnknownArgumentType]
            if isinstance(holder, type):
                added = [name for name in now if name not in known and callable(now[name])]
                found += [(holder, name, None, now[name]) for name in added]
            found += [
                (holder, name, value, now.get(name)) for name, value in known.items() if now.get(name) is not value
            ]
        return found
