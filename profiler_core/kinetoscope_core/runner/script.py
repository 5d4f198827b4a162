"""Runs a script or module as `python script.py args` or `python -m module args` would.

`__main__`, `__file__`, `sys.argv`, `sys.orig_argv` and `sys.path[0]` are as there; exceptions and exit codes are left to
the caller.
"""

import importlib.util
import io
import os
import runpy
import sys
from importlib.machinery import SourceFileLoader
from types import CodeType, ModuleType, TracebackType
from typing import Any, List, Optional, Tuple


class ScriptNotFound(Exception):
    """There is no such script or module; the text is what Python says in that case."""


def run_script(path: str, arguments: List[str]) -> None:
    """Executes the file, or the folder or zip file with a `__main__.py` in it, as `__main__`."""
    sys.argv[:] = [path, *arguments]
    _set_original_arguments([path, *arguments])
    if os.path.isdir(path) or path.endswith((".zip", ".pyz")):
        runpy.run_path(path, run_name="__main__")
        return
    absolute = os.path.abspath(path)
    try:
        with io.open_code(absolute) as file:
            source = file.read()
    except OSError as error:
        raise ScriptNotFound(f"can't open file '{absolute}': [Errno {error.errno}] {error.strerror}") from error
    if not getattr(sys.flags, "safe_path", False):
        sys.path.insert(0, os.path.dirname(os.path.realpath(absolute)))
    module = ModuleType("__main__")
    module.__file__ = absolute
    module.__loader__ = SourceFileLoader("__main__", absolute)
    module.__dict__["__annotations__"] = {}
    module.__dict__["__builtins__"] = sys.modules["builtins"]
    module.__dict__["__cached__"] = None
    sys.modules["__main__"] = module
    exec(compile(source, absolute, "exec", dont_inherit=True), module.__dict__)  # noqa: S102 - what the user asked for


def run_module(name: str, arguments: List[str]) -> None:
    """Executes a module, or the `__main__` of a package, as `__main__`."""
    sys.argv[:] = ["-m", *arguments]
    _set_original_arguments(["-m", name, *arguments])
    if not getattr(sys.flags, "safe_path", False):
        sys.path.insert(0, os.getcwd())
    module, code = _find_module(name)
    sys.argv[0] = str(module.__file__)
    sys.modules["__main__"] = module
    exec(code, module.__dict__)  # noqa: S102 - what the user asked for


def _find_module(name: str) -> Tuple[ModuleType, CodeType]:
    try:
        spec = importlib.util.find_spec(name)
        if spec is not None and spec.submodule_search_locations is not None:
            spec = importlib.util.find_spec(name + ".__main__")
            if spec is None:
                raise ScriptNotFound(
                    f"No module named {name}.__main__; '{name}' is a package and cannot be directly executed"
                )
    except ModuleNotFoundError as error:
        if error.name is not None and (name + ".").startswith(error.name + "."):
            raise ScriptNotFound(f"No module named {error.name}") from error
        raise
    loader: Any = None if spec is None else spec.loader
    code: Optional[CodeType] = loader.get_code(spec.name) if spec is not None and hasattr(loader, "get_code") else None
    if spec is None or code is None:
        raise ScriptNotFound(f"No module named {name}")
    module = ModuleType("__main__")
    module.__spec__ = spec
    module.__file__ = spec.origin
    module.__loader__ = spec.loader
    module.__package__ = spec.parent
    module.__dict__["__annotations__"] = {}
    module.__dict__["__builtins__"] = sys.modules["builtins"]
    module.__dict__["__cached__"] = spec.cached
    return module, code


def without_our_frames(traceback: Optional[TracebackType]) -> Optional[TracebackType]:
    """The traceback from the script's own first frame on, as Python would show it."""
    folder = os.path.dirname(os.path.abspath(__file__)) + os.sep
    while traceback is not None and traceback.tb_frame.f_code.co_filename.startswith(folder):
        traceback = traceback.tb_next
    return traceback


def _set_original_arguments(arguments: List[str]) -> None:
    if hasattr(sys, "orig_argv"):
        sys.orig_argv[:] = [sys.executable, *arguments]
