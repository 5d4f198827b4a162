"""What an import looks for: environment variables, files, and modules, also those that are not there."""

import builtins
import io
import os
import sys
from types import ModuleType
from typing import Any, Dict, List, Optional, Sequence, Set, Tuple

from .packages import mark_of

_NO_FILES = ("/dev/", "/proc/", "/sys/")


class Reads:
    """While inside, notes what Python code looks for; may be entered again.

    `environment` has names of variables, None once all were looked at; `files` each file that was opened or asked for,
    with its mark then (those of modules, which the import system reads, are not among them).
    """

    def __init__(self) -> None:
        self.environment: Optional[Set[str]] = set()
        self.files: Dict[str, Any] = {}
        self.missing_modules: Set[str] = set()
        self.imported: Set[str] = set()
        self._replaced: List[Tuple[Any, str, Any]] = []

    def __enter__(self) -> "Reads":  # noqa: PYI034 - typing.Self is not in 3.9
        environ: Any = type(os.environ)
        get, iterate, imports = environ.__getitem__, environ.__iter__, builtins.__import__

        def get_noted(environ: Any, name: Any) -> Any:
            if self.environment is not None:
                self.environment.add(name)
            return get(environ, name)

        def iterate_noted(environ: Any) -> Any:
            self.environment = None
            return iterate(environ)

        def import_noted(name: str, *arguments: Any, **options: Any) -> Any:
            self.imported.add(name)
            return imports(name, *arguments, **options)

        self._replace(environ, "__getitem__", get_noted)
        self._replace(environ, "__iter__", iterate_noted)
        self._replace(builtins, "__import__", import_noted)
        for holder, name in ((builtins, "open"), (io, "open"), (os, "stat")):
            self._replace(holder, name, self._noting_file(getattr(holder, name)))
        sys.meta_path.append(self)  # pyright: ignore[reportArgumentType]
        return self

    def __exit__(self, *_: object) -> None:
        sys.meta_path.remove(self)  # pyright: ignore[reportArgumentType]
        while self._replaced:
            setattr(*self._replaced.pop())
        self.files = {path: mark_of(path) for path in self.files}

    def _replace(self, holder: Any, name: str, value: Any) -> None:
        self._replaced.append((holder, name, getattr(holder, name)))
        setattr(holder, name, value)

    def find_spec(self, name: str, path: Optional[Sequence[str]] = None, _target: Optional[ModuleType] = None) -> None:
        if path is None:
            self.missing_modules.add(name)

    def _noting_file(self, function: Any) -> Any:
        def noting(*arguments: Any, **options: Any) -> Any:
            # `open` calls it `file`, `os.stat` calls it `path`.
            file: Any = arguments[0] if arguments else options.get("file", options.get("path"))
            if not isinstance(file, (int, type(None))):
                path = os.path.join(os.getcwd(), os.fsdecode(file))
                if not path.startswith(_NO_FILES):
                    self.files[path] = None
            return function(*arguments, **options)

        return noting
