"""What an import can see and change in a process, beyond `sys.modules`: compared before and after, by its name."""

import _locale
import builtins
import gc
import os
import signal
import sys
import threading
import warnings
from typing import Any, Dict, Optional, Tuple

SEEN_BY_IMPORTS: Tuple[str, ...] = ("hooks", "streams", "limits", "the root logger", "the locale", "the builtins")
EXIT_HANDLERS = "exit handlers"


def surroundings() -> Dict[str, Any]:
    """As they are now. Holds what it names, so that nothing else can come to have its identity."""
    logging = sys.modules.get("logging")
    root: Any = getattr(logging, "root", None)
    atexit: Any = sys.modules.get("atexit")
    return {
        "the working directory": os.getcwd(),
        "signal handlers": [signal.getsignal(number) for number in sorted(signal.valid_signals())],
        "hooks": (
            sys.excepthook,
            sys.displayhook,
            sys.unraisablehook,
            threading.excepthook,
            warnings.showwarning,
            sys.gettrace(),
            sys.getprofile(),
        ),
        "streams": (sys.stdin, sys.stdout, sys.stderr),
        "limits": (sys.getrecursionlimit(), sys.getswitchinterval(), gc.isenabled(), gc.get_threshold()),
        "the root logger": (30, (), 0) if root is None else (root.level, tuple(root.handlers), root.manager.disable),
        "the locale": _locale.setlocale(_locale.LC_ALL),
        "the builtins": dict(vars(builtins)),
        EXIT_HANDLERS: None if atexit is None else atexit._ncallbacks(),
        "threads": threading.enumerate(),
        "sys.path": list(sys.path),
    }


def first_difference(before: Dict[str, Any], now: Dict[str, Any], names: Any) -> Optional[str]:
    """The name of the first of these that is not as it was."""
    return next((name for name in names if before[name] != now[name]), None)
