"""Which files of Python code are the user's, and those of them that the script has loaded."""

import os
import sys
import sysconfig
from typing import List, Tuple

from . import FOLDER

_PACKAGES = ("site-packages", "dist-packages")
_MOST = 2_000


def is_the_user_s(file: str) -> bool:
    """Whether a file is neither the standard library's, nor of an installed package, nor generated, nor ours."""
    return _is_outside(file, _library_folders())


def loaded_files() -> List[str]:
    """The user's files whose modules are loaded by now, sorted; nothing of torch, which may run from its source, and
    writes modules of its own when it compiles.
    """
    modules = [module for name, module in list(sys.modules.items()) if not name.startswith("torch.")]
    named = {file for module in modules if isinstance(file := getattr(module, "__file__", None), str)}
    torch = getattr(sys.modules.get("torch"), "__file__", None)
    folders = _library_folders() if torch is None else (*_library_folders(), _folder(os.path.dirname(torch)))
    return sorted(
        file for file in named if file.endswith(".py") and os.path.isabs(file) and _is_outside(file, folders)
    )[:_MOST]


def _is_outside(file: str, folders: Tuple[str, ...]) -> bool:
    if file.startswith("<") or any(each in file.split(os.sep) for each in _PACKAGES):
        return False
    path = os.path.normcase(os.path.realpath(file))
    return not any(each in path.split(os.sep) for each in _PACKAGES) and not path.startswith(folders)


def _library_folders() -> Tuple[str, ...]:
    found = [FOLDER, os.path.dirname(os.__file__)]
    for name in ("stdlib", "platstdlib"):
        path = sysconfig.get_path(name)
        if path:
            found.append(path)
    return tuple(map(_folder, found))


def _folder(path: str) -> str:
    return os.path.normcase(os.path.realpath(path)) + os.sep
