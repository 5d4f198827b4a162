"""Everything a program can see of how it was started, as JSON."""

import sys

at_start = sorted(sys.modules["__main__"].__dict__)
path = list(sys.path)
import atexit
import builtins
import faulthandler
import gc
import json
import os
import signal
import threading
import warnings

main = sys.modules["__main__"]


def descriptors():
    found = {}
    for entry in sorted(os.listdir("/proc/self/fd"), key=int):
        try:
            found[entry] = os.readlink("/proc/self/fd/" + entry).partition(":")[0]
        except OSError:
            continue
    return found


seen = {
    "argv": sys.argv,
    "orig_argv": getattr(sys, "orig_argv", [])[1:],
    "executable": sys.executable,
    "path": path,
    "flags": str(sys.flags),
    "warnoptions": sys.warnoptions,
    "xoptions": sys._xoptions,
    "globals": at_start,
    "main": {
        name: repr(main.__dict__.get(name)).partition(" object at ")[0]
        for name in ("__name__", "__file__", "__package__", "__spec__", "__doc__", "__cached__", "__annotations__")
    },
    "loader": getattr(type(main.__loader__), "__name__", None),
    "is_main": main.__dict__ is globals(),
    "builtins": __builtins__ is builtins,
    "folder": os.getcwd(),
    "environment": {name: value for name, value in os.environ.items() if name not in ("KINETOSCOPE_RUN", "_")},
    "signals": {str(number): repr(signal.getsignal(number)).partition(" at ")[0] for number in signal.valid_signals()},
    "masked": sorted(map(str, signal.pthread_sigmask(signal.SIG_BLOCK, []))),
    "threads": [thread.name for thread in threading.enumerate() if thread.name != "kinetoscope"],
    "main_thread": threading.current_thread() is threading.main_thread(),
    # Our line has a high number, and the test's own may be inherited.
    "descriptors": {number: kind for number, kind in descriptors().items() if 2 < int(number) < 200},
    "filters": [str(item) for item in warnings.filters if "fork" not in str(item)],
    "hooks": [sys.excepthook is sys.__excepthook__, sys.displayhook is sys.__displayhook__, repr(sys.gettrace())],
    "streams": [repr(stream) for stream in (sys.stdin, sys.stdout, sys.stderr)],
    "buffering": sys.stdout.line_buffering,
    "recursion": sys.getrecursionlimit(),
    "switch": sys.getswitchinterval(),
    "gc": [gc.isenabled(), gc.get_threshold()],
    "faulthandler": faulthandler.is_enabled(),
    "meta_path": [
        getattr(finder, "__name__", type(finder).__name__)
        for finder in sys.meta_path
        if type(finder).__name__ != "_Finder"
    ],
    "tracing": repr(sys.getprofile()),
    "stdout_encoding": sys.stdout.encoding,
    "umask": os.umask(0o22),
    "nice": os.nice(0),
}
print(json.dumps(seen, indent=1))
if __name__ == "__main__":
    atexit.register(print, "atexit: first registered, last run")
    atexit.register(print, "atexit: last registered, first run", file=sys.stderr)
