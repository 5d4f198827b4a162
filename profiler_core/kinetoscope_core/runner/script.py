"""Runs a script or module as `python script.py args` or `python -m module args` would.

`__main__`, `__file__`, `sys.argv`, `sys.orig_argv`, `sys.path[0]` and what an import finds are as there; exceptions and
exit codes are left to the caller.
"""

import io
import os
import runpy
import sys
from importlib.machinery import PathFinder, SourceFileLoader
from types import ModuleType, TracebackType
from typing import AbstractSet, Any, List, Optional

from . import FOLDER
from .request import RunRequest

_OURS = __name__.partition(".")[0]
_python: Any = runpy
_stand_ins: List[ModuleType] = []
_FILE_OF_RUNPY = runpy.run_path.__code__.co_filename


class ScriptNotFound(Exception):
    """There is no such script or module; the text is what Python says in that case."""


def run(request: RunRequest, loaded_by_python: AbstractSet[str]) -> None:
    """Runs what is asked for."""
    execute = run_module if request.is_module else run_script
    execute(request.script, list(request.arguments), loaded_by_python)


def run_script(path: str, arguments: List[str], loaded_by_python: AbstractSet[str]) -> None:
    """Executes the file, or the folder or zip file with a `__main__.py` in it, as `__main__`."""
    _set_arguments(path, [path], arguments)
    # CPython makes it absolute without tidying it up (getpath.c, _Py_abspath).
    absolute = path if os.path.isabs(path) else os.path.join(os.getcwd(), path)
    if _can_import_from(absolute):
        sys.path.insert(0, absolute)
        _run_module_as_main("__main__", loaded_by_python, is_named=False)
        return
    try:
        with io.open_code(absolute) as file:
            source = file.read()
    except OSError as error:
        raise ScriptNotFound(f"can't open file '{absolute}': [Errno {error.errno}] {error.strerror}") from error
    if not getattr(sys.flags, "safe_path", False):
        sys.path.insert(0, os.path.dirname(os.path.realpath(absolute)))
    main = _new_main(loaded_by_python)
    main.__loader__ = SourceFileLoader("__main__", absolute)
    main.__file__ = absolute
    main.__dict__["__cached__"] = None
    exec(compile(source, absolute, "exec", dont_inherit=True), main.__dict__)  # noqa: S102 - what the user asked for


def run_module(name: str, arguments: List[str], loaded_by_python: AbstractSet[str]) -> None:
    """Executes a module, or the `__main__` of a package, as `__main__`."""
    _set_arguments("-m", ["-m", name], arguments)
    if not getattr(sys.flags, "safe_path", False):
        sys.path.insert(0, os.getcwd())
    _run_module_as_main(name, loaded_by_python, is_named=True)


def _run_module_as_main(name: str, loaded_by_python: AbstractSet[str], *, is_named: bool) -> None:
    """What CPython itself calls for `-m`, folders and zip files, the same from 3.9 to 3.14."""
    _new_main(loaded_by_python)
    try:
        _python._run_module_as_main(name, is_named)
    except SystemExit as error:
        if (
            isinstance(error.__context__, _python._Error)
            and without_our_frames(error.__traceback__, _FILE_OF_RUNPY) is None
        ):
            raise ScriptNotFound(str(error.__context__)) from None
        raise


def _set_arguments(argv0: str, original: List[str], arguments: List[str]) -> None:
    sys.argv[:] = [argv0, *arguments]
    if hasattr(sys, "orig_argv"):
        sys.orig_argv[:] = [sys.orig_argv[0], *original, *arguments]


def _can_import_from(path: str) -> bool:
    for hook in sys.path_hooks:
        try:
            hook(path)
        except ImportError:
            continue
        return True
    return False


def stand_in(path: str, arguments: List[str]) -> None:
    """Lets what is imported ahead of the script find its arguments, and the module that will be its `__main__`."""
    sys.argv[:] = [path, *arguments]
    main = sys.modules["__main__"] = ModuleType("__main__")
    main.__file__ = path
    _stand_ins.append(main)


def _new_main(loaded_by_python: AbstractSet[str]) -> ModuleType:
    """The module in which the script runs, as Python makes it."""
    forget_what_the_script_would_not_find(loaded_by_python)
    main = ModuleType("__main__")
    if _stand_ins:
        main = _stand_ins.pop()
        del main.__file__
    if sys.version_info < (3, 14):
        main.__dict__["__annotations__"] = {}
    main.__dict__["__builtins__"] = sys.modules["builtins"]
    sys.modules["__main__"] = main
    if "__mp_main__" in sys.modules:  # multiprocessing's second name for it
        sys.modules["__mp_main__"] = main
    return main


def forget_what_the_script_would_not_find(loaded_by_python: AbstractSet[str]) -> None:
    """Forgets each module that we imported and that the script's own import would take from elsewhere.

    A `queue.py` beside the script goes before that of the standard library, for better or worse.
    """
    for name in [name for name in sys.modules if "." not in name and name not in loaded_by_python and name != _OURS]:
        spec = getattr(sys.modules[name], "__spec__", None)
        if spec is None or not spec.has_location:
            continue
        found = PathFinder.find_spec(name)
        if found is not None and found.origin != spec.origin:
            for loaded in [other for other in sys.modules if (other + ".").startswith(name + ".")]:
                del sys.modules[loaded]


def without_our_frames(traceback: Optional[TracebackType], *also: str) -> Optional[TracebackType]:
    """The traceback as Python would show it: without the frames that lead to the script, and what it calls of ours."""

    def next_of_theirs(here: Optional[TracebackType]) -> Optional[TracebackType]:
        while here is not None and here.tb_frame.f_code.co_filename.startswith((FOLDER, *also)):
            here = here.tb_next
        return here

    first = here = next_of_theirs(traceback)
    while here is not None:
        here.tb_next = next_of_theirs(here.tb_next)
        here = here.tb_next
    return first


def hide_our_frames(error: BaseException) -> None:
    """Leaves the tracebacks of an exception, and of those that came before it, as Python would show them."""
    chain, known = [error], {id(error)}  # by identity: an exception of the script's may compare as it likes
    for each in chain:
        each.__traceback__ = without_our_frames(each.__traceback__)
        for other in (each.__cause__, each.__context__):
            if other is not None and id(other) not in known:
                known.add(id(other))
                chain.append(other)
