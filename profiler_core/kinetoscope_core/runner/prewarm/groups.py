"""What one import ahead of the script brought into the process: taken back, and brought again when the script asks."""

import atexit
import functools
import importlib
import logging
import os
import sys
import warnings
import weakref
from typing import Any, Callable, List, Sequence

from . import packages
from .reads import Reads
from .surroundings import KnownNames, put

_LOGGERS = logging.root.manager.loggerDict
_finalize: Any = weakref.finalize
"""It registers one handler for all of its objects, with the first of them."""


class NotPrepared(Exception):
    """The process is no longer as a script has to find it; the text says why."""


class Group:
    """Modules that enter together: the packages of these names, and all that came with them."""

    def __init__(self, names: Sequence[str], reads: Reads, use: Callable[[], None] = lambda: None) -> None:
        """Imports and uses them. Raises `NotPrepared` where that cannot be taken back."""
        self.names = tuple(names)
        before = KnownNames(packages.of_the_library(), [_LOGGERS, os.environ])
        loaded, filters, finders = set(sys.modules), list(warnings.filters), list(sys.meta_path)
        with ExitHandlers() as self._exit_handlers:
            with reads:
                for name in names:
                    try:
                        importlib.import_module(name)
                    except (Exception, SystemExit) as error:
                        raise NotPrepared(f"importing {name} raises {type(error).__name__}: {error}") from error
            use()
        if not ends_with(warnings.filters, filters):
            raise NotPrepared(f"importing {' and '.join(names)} changes warnings filters that were there")
        came = {name: module for name, module in sys.modules.items() if name not in loaded}
        for name, module in came.items():
            if packages.is_of_the_user(packages.origin_of(module)):
                raise NotPrepared(f"the packages import {name}, which is not one of them")
        self.modules = {name: module for name, module in came.items() if packages.is_of_a_package(name)}
        self._changes = before.changes()
        self._filters: List[Any] = list(warnings.filters[: len(warnings.filters) - len(filters)])
        self._finders = [finder for finder in sys.meta_path if finder not in finders]

    def take_back(self) -> None:
        """Leaves the process as if it had not been imported. Of several groups the last one goes first."""
        for name in self.modules:
            del sys.modules[name]
        for holder, name, before, _ in self._changes:
            put(holder, name, before)
        _set_filters(warnings.filters[len(self._filters) :])
        sys.meta_path[:] = [finder for finder in sys.meta_path if finder not in self._finders]
        self._exit_handlers.take_back()

    def conflict(self) -> str:
        """What of the script's stands where this would have to go, if anything."""
        if any(name in sys.modules for name in self.modules):
            return "it puts modules in place of its packages"
        if any(holder is _LOGGERS and holder.get(name) is not before for holder, name, before, _ in self._changes):
            return "it uses loggers of its packages before it imports them"
        return ""

    def bring(self) -> None:
        """Has it all enter."""
        sys.modules.update(self.modules)
        for holder, name, _, now in self._changes:
            put(holder, name, now)
        _set_filters([*self._filters, *warnings.filters])
        sys.meta_path.extend(self._finders)
        self._exit_handlers.register()


def ends_with(values: Any, end: Any) -> bool:
    return list(values[len(values) - len(end) :]) == list(end)


def _set_filters(filters: Sequence[Any]) -> None:
    current: Any = warnings.filters
    if current != filters:
        current[:] = filters
        # Has each module's memory of warnings that were shown begin anew, as any change of the filters does.
        getattr(warnings, "_filters_mutated", int)()


class ExitHandlers:
    """While inside, what packages register with `atexit` is kept; `register` does it at the script's own time."""

    def __init__(self) -> None:
        self._kept: List[Callable[[], Any]] = []

    def __enter__(self) -> "ExitHandlers":  # noqa: PYI034
        self._register: Any = atexit.register

        def register(function: Any, *arguments: Any, **options: Any) -> Any:
            if function == _finalize._exitfunc:
                self._kept.append(_register_finalize)
            elif packages.is_of_the_library(sys._getframe(1).f_code.co_filename):
                self._register(function, *arguments, **options)
            else:  # libraries of C++ have the frame of who imports them
                self._kept.append(functools.partial(self._register, function, *arguments, **options))
            return function

        atexit.register = register
        return self

    def __exit__(self, *_: object) -> None:
        atexit.register = self._register

    def take_back(self) -> None:
        if _register_finalize in self._kept:
            _finalize._registered_with_atexit = False

    def register(self) -> None:
        for registering in self._kept:
            registering()


def _register_finalize() -> None:
    if not _finalize._registered_with_atexit:
        atexit.register(_finalize._exitfunc)
        _finalize._registered_with_atexit = True
