"""Which modules are third-party packages, by where their files lie. Knows nothing of sessions."""

import os
import sys
from types import ModuleType
from typing import Any, Dict, List, Optional

from .reads import PACKAGE_FOLDERS, mark_of

# Its own libraries lie beside it on Windows.
_LIBRARY = (os.path.join(os.path.dirname(os.__file__), ""), os.path.join(sys.base_exec_prefix, "DLLs", ""))


def origin_of(module: Any) -> Optional[str]:
    """The file that a module was loaded from under its own name, None where there is none."""
    spec = getattr(module, "__spec__", None)
    if spec is None or not getattr(spec, "has_location", False):
        return None
    origin: Optional[str] = spec.origin
    return origin


def is_third_party(origin: Optional[str]) -> bool:
    return origin is not None and any(folder in origin.split(os.sep) for folder in PACKAGE_FOLDERS)


def is_of_a_package(name: str) -> bool:
    """Whether this loaded module, or the one at its top, is third-party: also of namespaces and made-up modules."""
    for module in (sys.modules.get(name), sys.modules.get(name.partition(".")[0])):
        places = list(vars(module).get("__path__", ())) if module is not None else []
        if is_third_party(origin_of(module)) or (places and all(is_third_party(place) for place in places)):
            return True
    return False


def is_of_the_user(origin: Optional[str]) -> bool:
    """Whether the file is neither of the standard library nor of a package."""
    return origin is not None and not is_third_party(origin) and not origin.startswith(_LIBRARY)


def of_the_user(modules: Dict[str, ModuleType]) -> Optional[str]:
    """The first of these modules that is the user's."""
    return next((name for name, module in modules.items() if is_of_the_user(origin_of(module))), None)


def of_the_library() -> List[ModuleType]:
    """The modules of the standard library that are loaded."""
    found: List[ModuleType] = []
    for module in list(sys.modules.values()):
        spec = getattr(module, "__spec__", None)
        origin = None if spec is None else spec.origin
        if origin in ("built-in", "frozen") or (origin and origin.startswith(_LIBRARY) and not is_third_party(origin)):
            found.append(module)
    return found


def installed() -> Dict[str, Any]:
    """What changes when a package is installed, removed or made editable, and when the interpreter is another one."""
    interpreter = [os.path.realpath(sys.executable), os.path.join(sys.prefix, "pyvenv.cfg")]
    found = {path: mark_of(path) for path in interpreter}
    for folder in [entry for entry in sys.path if os.path.basename(entry) in PACKAGE_FOLDERS and os.path.isdir(entry)]:
        for name in os.listdir(folder):
            path = os.path.join(folder, name)
            if name != "__pycache__":
                found[path] = mark_of(path) if name.endswith(".pth") else None
    return found
