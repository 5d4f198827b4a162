"""What an import looks for: environment variables, files, arguments, and modules that are not there."""

import atexit
import builtins
import io
import os
import stat
import sys
import weakref
from types import ModuleType
from typing import Any, Callable, Dict, List, Optional, Sequence, Set, Tuple

_LIBRARY = os.path.join(os.path.dirname(os.__file__), "")
PACKAGE_FOLDERS = ("site-packages", "dist-packages")
_finalize: Any = weakref.finalize
"""It registers one handler for all of its objects, with the first of them."""

Mark = Optional[Tuple[int, int]]
_NO_FILES = ("/dev/", "/proc/", "/sys/")


def mark_of(path: str) -> Mark:
    """When a file was changed, in ns, and its size; zeros for a folder or device, None if it is not there."""
    try:
        status = os.stat(path)
    except (OSError, ValueError):
        return None
    return (status.st_mtime_ns, status.st_size) if stat.S_ISREG(status.st_mode) else (0, 0)


class Reads:
    """While inside, notes what Python code looks for.

    `environment` has names of variables, None once all were looked at; `files` each file that was opened or asked for,
    with its mark then (those of modules, which the import system reads, are not among them).
    """

    def __init__(self) -> None:
        self.environment: Optional[Set[str]] = set()
        self.files: Dict[str, Mark] = {}
        self.missing_modules: Set[str] = set()
        self.imported: Set[str] = set()
        self.arguments = False

    def __enter__(self) -> "Reads":  # noqa: PYI034 - typing.Self is not in 3.9
        environ: Any = type(os.environ)
        self._originals = (environ.__getitem__, environ.__iter__, io.open, os.stat, sys.argv)
        get, iterate, opened, asked, argv = self._originals

        def get_noted(environ: Any, name: Any) -> Any:
            if self.environment is not None:
                self.environment.add(name)
            return get(environ, name)

        def iterate_noted(environ: Any) -> Any:
            self.environment = None
            return iterate(environ)

        environ.__getitem__, environ.__iter__ = get_noted, iterate_noted
        self._import = builtins.__import__

        def import_noted(name: str, *arguments: Any) -> Any:
            self.imported.add(name)
            return self._import(name, *arguments)

        builtins.__import__ = import_noted
        io.open = builtins.open = self._noting_file(opened)
        os.stat = self._noting_file(asked)
        sys.argv = _Arguments(argv, self)
        sys.meta_path.append(self)  # pyright: ignore[reportArgumentType]
        return self

    def __exit__(self, *_: object) -> None:
        environ: Any = type(os.environ)
        environ.__getitem__, environ.__iter__, opened, os.stat, sys.argv = self._originals
        io.open = builtins.open = opened
        builtins.__import__ = self._import
        sys.meta_path.remove(self)  # pyright: ignore[reportArgumentType]
        self.files = {path: mark_of(path) for path in self.files}

    def find_spec(self, name: str, path: Optional[Sequence[str]] = None, _target: Optional[ModuleType] = None) -> None:
        if path is None:
            self.missing_modules.add(name)

    def _noting_file(self, function: Any) -> Any:
        def noting(file: Any, *arguments: Any, **options: Any) -> Any:
            if not isinstance(file, int):
                path = os.path.join(os.getcwd(), os.fsdecode(file))
                if not path.startswith(_NO_FILES):
                    self.files[path] = None
            return function(file, *arguments, **options)

        return noting


class _Arguments(List[Any]):
    """`sys.argv` that notes whether Python code looked at it."""

    def __init__(self, values: Sequence[str], reads: Reads) -> None:
        super().__init__(values)
        self._reads = reads

    def __getitem__(self, index: Any) -> Any:
        self._reads.arguments = True
        return super().__getitem__(index)

    def __iter__(self) -> Any:
        self._reads.arguments = True
        return super().__iter__()

    def __contains__(self, value: object) -> bool:
        self._reads.arguments = True
        return super().__contains__(value)

    def __len__(self) -> int:
        self._reads.arguments = True
        return super().__len__()


class ExitHandlers:
    """While inside, what packages register with `atexit` is kept; `register` does it at the script's own time."""

    def __init__(self) -> None:
        self._kept: List[Tuple[Callable[..., Any], Tuple[Any, ...], Dict[str, Any]]] = []

    def __enter__(self) -> "ExitHandlers":  # noqa: PYI034
        self._register = atexit.register

        def register(function: Any, *arguments: Any, **options: Any) -> Any:
            caller = sys._getframe(1).f_code.co_filename
            of_the_library = caller.startswith(_LIBRARY) and not any(
                each in caller.split(os.sep) for each in PACKAGE_FOLDERS
            )
            if function == _finalize._exitfunc or not of_the_library:  # libraries of C++ are called by none of both
                self._kept.append((function, arguments, options))
                return function
            return self._register(function, *arguments, **options)

        atexit.register = register
        return self

    def __exit__(self, *_: object) -> None:
        atexit.register = self._register

    def take_back(self) -> None:
        if any(function == _finalize._exitfunc for function, *_ in self._kept):
            _finalize._registered_with_atexit = False

    def register(self) -> None:
        for function, arguments, options in self._kept:
            if function == _finalize._exitfunc:
                if _finalize._registered_with_atexit:
                    continue
                _finalize._registered_with_atexit = True
            atexit.register(function, *arguments, **options)
