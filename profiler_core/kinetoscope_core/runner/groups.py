"""What one import ahead of the script brought into the process: taken back, and brought again when the script asks."""

import importlib
import os
import sys
import warnings
from importlib.machinery import PathFinder
from types import ModuleType
from typing import Any, Dict, List, Optional, Sequence, Tuple

from . import packages, variables
from .reads import EnvironmentReads

_NOTHING = object()


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
    """A module and all that came with it. A package that imports another part of itself later makes a group of its own.

    `reads` are the environment variables that were looked at, None for all of them.
    """

    def __init__(self, name: str) -> None:
        """Imports the module. Raises `NotPrepared` where that cannot be taken back."""
        loaded, loggers_before = set(sys.modules), set(_loggers())
        filters, finders = list(warnings.filters), list(sys.meta_path)
        self._environment = dict(os.environ)
        others = [
            (module, dict(vars(module))) for each, module in sys.modules.items() if packages.is_of_a_package(each)
        ]
        with EnvironmentReads() as reads:
            try:
                importlib.import_module(name)
            except (Exception, SystemExit) as error:
                raise NotPrepared(f"importing {name} raises {type(error).__name__}: {error}") from error
        if not ends_with(warnings.filters, filters):
            raise NotPrepared(f"importing {name} changes warnings filters that were there")
        if any(variable not in os.environ for variable in self._environment):
            raise NotPrepared(f"importing {name} removes environment variables")
        self.reads = reads.names
        self.all_modules = {each: module for each, module in sys.modules.items() if each not in loaded}
        self.modules = {each: self.all_modules[each] for each in self.all_modules if packages.is_of_a_package(each)}
        self.has_extensions = packages.has_extensions(self.modules.values())
        self.variables = variables.changes(self._environment, os.environ)
        self._filters: List[Any] = list(warnings.filters[: len(warnings.filters) - len(filters)])
        self._finders = [finder for finder in sys.meta_path if finder not in finders]
        self._loggers = {each: logger for each, logger in _loggers().items() if each not in loggers_before}
        # Packages replace functions of others (torch._dynamo does so with torch.manual_seed) and are bound in them.
        self._replaced: List[Tuple[ModuleType, str, Any, Any]] = [
            (module, each, names.get(each, _NOTHING), value)
            for module, names in others
            for each, value in vars(module).items()
            if names.get(each, _NOTHING) is not value
        ]

    def take_back(self) -> None:
        """Leaves the process as if it had not been imported. Of several groups the last one goes first."""
        for module, name, before, now in self._replaced:
            _rebind(module, name, now, before)
        for name in self.modules:
            del sys.modules[name]
        for name in self._loggers:
            del _loggers()[name]
        variables.restore(self._environment, self.variables)
        _set_filters(warnings.filters[len(self._filters) :])
        sys.meta_path[:] = [finder for finder in sys.meta_path if finder not in self._finders]

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
        for module, name, before, now in self._replaced:
            _rebind(module, name, before, now)
        _loggers().update(self._loggers)
        os.environ.update(self.variables)
        _set_filters([*self._filters, *warnings.filters])
        sys.meta_path.extend(self._finders)


def _rebind(module: ModuleType, name: str, is_now: Any, wanted: Any) -> None:
    """Binds the name in the module anew, unless somebody has done so meanwhile."""
    names = vars(module)
    if names.get(name, _NOTHING) is not is_now:
        return
    if wanted is _NOTHING:
        del names[name]
    else:
        names[name] = wanted


def ends_with(values: Any, end: Any) -> bool:
    return list(values[len(values) - len(end) :]) == list(end)


def _loggers() -> Dict[str, Any]:
    """All loggers by name, as `logging.getLogger` finds them; none where nothing logs."""
    logging: Any = sys.modules.get("logging")
    return {} if logging is None else logging.root.manager.loggerDict


def _set_filters(filters: Sequence[Any]) -> None:
    current: Any = warnings.filters
    if current != filters:
        current[:] = filters
        # Has each module's memory of warnings that were shown begin anew, as any change of the filters does.
        getattr(warnings, "_filters_mutated", int)()
