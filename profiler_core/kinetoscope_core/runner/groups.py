"""What one import ahead of the script brought into the process: taken back, and brought again when the script asks."""

import importlib
import logging
import os
import sys
import warnings
from importlib.machinery import PathFinder
from types import ModuleType
from typing import Any, Dict, List, Optional, Sequence

from . import packages, variables
from .reads import ExitHandlers
from .surroundings import Functions


class NotPrepared(Exception):
    """The process is no longer as a script has to find it; the text says why."""


class UsersModules:
    """While inside, none is imported: nobody has asked for it to be run.

    Raises `NotPrepared` at the end if one was to be.
    """

    def __init__(self) -> None:
        self._wanted = ""

    def __enter__(self) -> None:
        # Behind the finders of what is built in, which go before any file.
        place = sys.meta_path.index(PathFinder) if PathFinder in sys.meta_path else 0
        sys.meta_path.insert(place, self)  # pyright: ignore[reportArgumentType]

    def __exit__(self, *_: object) -> None:
        sys.meta_path.remove(self)  # pyright: ignore[reportArgumentType]
        if self._wanted:  # also where the package did without it
            raise NotPrepared(f"the packages import {self._wanted}, which is not one of them")

    def find_spec(self, name: str, path: Optional[Sequence[str]] = None, target: Optional[ModuleType] = None) -> None:
        spec = PathFinder.find_spec(name, path, target)
        if spec is not None and spec.has_location and packages.is_of_the_user(spec.origin):
            self._wanted = self._wanted or name
            raise ImportError(f"{name} is not a package's", name=name)


class Group:
    """Modules that enter together: the packages of these names, and all that came with them."""

    def __init__(self, names: Sequence[str]) -> None:
        """Imports them. Raises `NotPrepared` where that cannot be taken back."""
        self.names = tuple(names)
        loaded, loggers_before = set(sys.modules), set(_loggers())
        filters, finders = list(warnings.filters), list(sys.meta_path)
        self._environment = variables.actual()  # os.environ would note that all of it was looked at
        functions = Functions(packages.of_the_library())
        with ExitHandlers() as self._exit_handlers:
            for name in names:
                try:
                    importlib.import_module(name)
                except (Exception, SystemExit) as error:
                    raise NotPrepared(f"importing {name} raises {type(error).__name__}: {error}") from error
        self._replaced = functions.replaced()
        what = " and ".join(names)
        if not ends_with(warnings.filters, filters):
            raise NotPrepared(f"importing {what} changes warnings filters that were there")
        if any(variable not in os.environ for variable in self._environment):
            raise NotPrepared(f"importing {what} removes environment variables")
        all_modules = {each: module for each, module in sys.modules.items() if each not in loaded}
        of_user = packages.of_the_user(all_modules)
        if of_user is not None:
            raise NotPrepared(f"the packages import {of_user}, which is not one of them")
        self.modules = {each: module for each, module in all_modules.items() if packages.is_of_a_package(each)}
        self.variables = variables.changes(self._environment, variables.actual())
        self._filters: List[Any] = list(warnings.filters[: len(warnings.filters) - len(filters)])
        self._finders = [finder for finder in sys.meta_path if finder not in finders]
        self._loggers = {each: logger for each, logger in _loggers().items() if each not in loggers_before}

    def take_back(self) -> None:
        """Leaves the process as if it had not been imported. Of several groups the last one goes first."""
        for holder, name, before, _ in self._replaced:
            _put(holder, name, before)
        for name in self.modules:
            del sys.modules[name]
        for name in self._loggers:
            del _loggers()[name]
        variables.restore(self._environment, self.variables)
        _set_filters(warnings.filters[len(self._filters) :])
        sys.meta_path[:] = [finder for finder in sys.meta_path if finder not in self._finders]
        self._exit_handlers.take_back()

    def conflict(self) -> str:
        """What of the script's stands where this would have to go, if anything."""
        if any(name in sys.modules for name in self.modules):
            return "it puts modules in place of its packages"
        if any(name in _loggers() for name in self._loggers):
            return "it uses loggers of its packages before it imports them"
        return ""

    def bring(self) -> None:
        """Has it all enter."""
        sys.modules.update(self.modules)
        for holder, name, _, now in self._replaced:
            _put(holder, name, now)
        _loggers().update(self._loggers)
        os.environ.update(self.variables)
        _set_filters([*self._filters, *warnings.filters])
        sys.meta_path.extend(self._finders)
        self._exit_handlers.register()


def _put(holder: Any, name: str, value: Any) -> None:
    if value is None:
        delattr(holder, name)
    else:
        setattr(holder, name, value)


def ends_with(values: Any, end: Any) -> bool:
    return list(values[len(values) - len(end) :]) == list(end)


def _loggers() -> Dict[str, Any]:
    """All loggers by name, as `logging.getLogger` finds them."""
    return logging.root.manager.loggerDict


def _set_filters(filters: Sequence[Any]) -> None:
    current: Any = warnings.filters
    if current != filters:
        current[:] = filters
        # Has each module's memory of warnings that were shown begin anew, as any change of the filters does.
        getattr(warnings, "_filters_mutated", int)()
