"""Which modules are third-party packages, by where their files lie. Knows nothing of sessions."""

import contextlib
import glob
import os
import stat
import sys
from types import ModuleType
from typing import Any, Dict, Generator, List, Optional

PACKAGE_FOLDERS = ("site-packages", "dist-packages")

# Its own libraries lie beside it on Windows.
_LIBRARY = (os.path.join(os.path.dirname(os.__file__), ""), os.path.join(sys.base_exec_prefix, "DLLs", ""))


def mark_of(path: str) -> Any:
    """When a file was changed, in ns, and its size; the names in a folder of packages; None if it is not there."""
    try:
        if os.path.basename(path) in PACKAGE_FOLDERS:
            return {name for name in os.listdir(path) if name != "__pycache__"}
        status = os.stat(path)
    except (OSError, ValueError):
        return None
    return (status.st_mtime_ns, status.st_size) if stat.S_ISREG(status.st_mode) else "a folder or device"


def origin_of(module: Any) -> Optional[str]:
    """The file that a module was loaded from under its own name, None where there is none."""
    spec = getattr(module, "__spec__", None)
    if spec is None or not getattr(spec, "has_location", False):
        return None
    origin: Optional[str] = spec.origin
    return origin


def is_third_party(origin: Optional[str]) -> bool:
    return origin is not None and any(folder in origin.split(os.sep) for folder in PACKAGE_FOLDERS)


def is_of_the_library(origin: Optional[str]) -> bool:
    return origin is not None and origin.startswith(_LIBRARY) and not is_third_party(origin)


def is_of_the_user(origin: Optional[str]) -> bool:
    """Whether the file is neither of the standard library nor of a package."""
    return origin is not None and not is_third_party(origin) and not is_of_the_library(origin)


def is_of_a_package(name: str) -> bool:
    """Whether this loaded module, or the one at its top, is third-party: also of namespaces and made-up modules."""
    for module in (sys.modules.get(name), sys.modules.get(name.partition(".")[0])):
        places = list(vars(module).get("__path__", ())) if module is not None else []
        if is_third_party(origin_of(module)) or (places and all(is_third_party(place) for place in places)):
            return True
    return False


def of_the_library() -> List[ModuleType]:
    """The modules of the standard library that are loaded."""
    specs = [(module, getattr(module, "__spec__", None)) for module in list(sys.modules.values())]
    origins = [(module, None if spec is None else spec.origin) for module, spec in specs]
    return [module for module, origin in origins if origin in ("built-in", "frozen") or is_of_the_library(origin)]


@contextlib.contextmanager
def found_alone() -> Generator[None, None, None]:
    """While inside, an import finds the standard library and packages, and nothing of the user's: nobody has asked for
    that to be run.
    """
    path = list(sys.path)
    sys.path[:] = [entry for entry in path if not is_of_the_user(os.path.join(entry, ""))]
    try:
        yield
    finally:
        sys.path[:] = path


def installed() -> Dict[str, Any]:
    """Marks of what changes when a package is installed, removed or made editable, or the interpreter is another."""
    interpreter = [os.path.realpath(sys.executable), os.path.join(sys.prefix, "pyvenv.cfg")]
    folders = [entry for entry in sys.path if os.path.basename(entry) in PACKAGE_FOLDERS]
    links = [path for folder in folders for path in glob.glob(os.path.join(glob.escape(folder), "*.pth"))]
    return {path: mark_of(path) for path in [*interpreter, *folders, *links]}
