"""What imports look for: environment variables, and modules that are not there."""

import os
import sys
from types import ModuleType
from typing import Any, Optional, Sequence, Set


class MissingModules:
    """While inside, notes the top-level modules that were looked for and not found."""

    def __init__(self) -> None:
        self.names: Set[str] = set()

    def __enter__(self) -> "MissingModules":  # noqa: PYI034 - typing.Self is not in 3.9
        sys.meta_path.append(self)  # pyright: ignore[reportArgumentType]
        return self

    def __exit__(self, *_: object) -> None:
        sys.meta_path.remove(self)  # pyright: ignore[reportArgumentType]

    def find_spec(self, name: str, path: Optional[Sequence[str]] = None, _target: Optional[ModuleType] = None) -> None:
        if path is None:
            self.names.add(name)


class EnvironmentReads:
    """While inside, notes the environment variables that Python code reads; `names` is None once all were looked at."""

    def __init__(self) -> None:
        self.names: Optional[Set[str]] = set()

    def __enter__(self) -> "EnvironmentReads":  # noqa: PYI034
        kind: Any = type(os.environ)
        self._get, self._iterate = kind.__getitem__, kind.__iter__
        reads = self

        def get(environ: Any, name: Any) -> Any:
            if reads.names is not None:
                reads.names.add(name)
            return reads._get(environ, name)

        def iterate(environ: Any) -> Any:
            reads.names = None
            return reads._iterate(environ)

        kind.__getitem__, kind.__iter__ = get, iterate
        return self

    def __exit__(self, *_: object) -> None:
        kind: Any = type(os.environ)
        kind.__getitem__, kind.__iter__ = self._get, self._iterate
