"""Third-party modules that were imported ahead of the script and wait in the wings until it imports one of them.

Until then the script finds `sys.modules`, the environment, the warnings filters and the finders as if nothing had been
imported. When it imports one, all enter, if the import would have gone the same way now; else the run has to be cold.
"""

import copy
import importlib
import os
import sys
import threading
import warnings
from importlib.machinery import ModuleSpec, PathFinder
from types import ModuleType
from typing import AbstractSet, Any, Callable, Dict, List, Optional, Sequence

from . import packages, variables
from .output import output_held
from .reads import EnvironmentReads, MissingModules
from .surroundings import SEEN_BY_IMPORTS, first_difference, surroundings

_UNCHANGED = ("exit handlers", "threads")
"""Not asked of the preloading itself: what it registers is registered before the script's own, as always."""


class NotPrepared(Exception):
    """The process is no longer as a script has to find it; the text says why."""


class Wings:
    """Modules imported ahead. `give_up(why)` ends the process, for a cold run to begin.

    `on_entrance` is called when the modules have entered `sys.modules`.
    """

    def __init__(self, loaded_by_python: AbstractSet[str], give_up: Callable[[str], None]) -> None:
        self.has_entered = False
        self.on_entrance: Callable[[], object] = int
        self._give_up = give_up
        self._loaded_by_python = loaded_by_python
        self._modules: Dict[str, ModuleType] = {}
        self._lock = threading.RLock()

    # --- ahead of the script

    def preload(self, names: Sequence[str], prime: Optional[Callable[[Any], None]]) -> None:
        """Imports these modules, has `prime` use torch, and sets them aside.

        Raises `NotPrepared` if that leaves a trace that a script finds.
        """
        before = surroundings()
        self._environment = dict(os.environ)
        self._filters = list(warnings.filters)
        self._finders = list(sys.meta_path)
        self._path_hooks = list(sys.path_hooks)
        self._path = list(sys.path)
        loaded = set(sys.modules)
        self._installed = packages.installed()
        written: List[str] = []
        with EnvironmentReads() as self._read, MissingModules() as self._missing, output_held(written):
            for name in names:
                try:
                    importlib.import_module(name)
                except Exception as error:
                    raise NotPrepared(f"importing {name} raises {type(error).__name__}: {error}") from error
        if written:
            raise NotPrepared(f"importing the packages prints: {written[0]}")
        if prime is not None:
            prime(sys.modules["torch"])
        new = {name: module for name, module in sys.modules.items() if name not in loaded}
        changed = first_difference(before, surroundings(), [name for name in before if name not in _UNCHANGED])
        if changed is not None:
            raise NotPrepared(f"importing the packages changes {changed}")
        if set(sys.path_hooks) != set(self._path_hooks) or not _ends_with(warnings.filters, self._filters):
            raise NotPrepared("importing the packages changes path hooks or warnings filters that were there")
        of_user = packages.of_the_user(new)
        if of_user is not None:
            raise NotPrepared(f"the packages import {of_user}, which is not one of them")
        if any(name not in os.environ for name in self._environment):
            raise NotPrepared("importing the packages removes environment variables")
        if set(threading.enumerate()) - set(before["threads"]):
            raise NotPrepared("importing the packages starts threads")
        self._names = {name for name in sys.modules if "." not in name and name not in self._loaded_by_python}
        self._set_aside(new)

    def _set_aside(self, new: Dict[str, ModuleType]) -> None:
        self._modules.update({name: new[name] for name in new if packages.is_of_a_package(name)})
        files = [packages.origin_of(module) for module in self._modules.values()]
        self._files = {file: packages.mark_of(file) for file in files if file is not None}
        for name in self._modules:
            del sys.modules[name]
        self._set_variables = variables.changes(self._environment, os.environ)
        variables.restore(self._environment, self._set_variables)
        self._added_filters = list(warnings.filters[: len(warnings.filters) - len(self._filters)])
        _set_filters(self._filters)
        self._added_finders = [finder for finder in sys.meta_path if finder not in self._finders]
        sys.meta_path[:] = self._finders

    # --- when the run is asked for

    def why_not(self, folders: Sequence[str]) -> Optional[str]:
        """Why a script whose own modules lie in these folders has to run cold, if it has to."""
        if packages.installed() != self._installed:
            return "packages were installed or removed"
        if any(packages.mark_of(file) != mark for file, mark in self._files.items()):
            return "files of the packages have changed"
        return self._shadowed(folders)

    def stand_by(self) -> None:
        """From here on the script's imports are answered."""
        self._at_start = surroundings()
        self._filters = list(warnings.filters)
        self._finders = list(sys.meta_path)
        self._asked = _Finder(self._modules, self._enter)
        sys.meta_path.insert(0, self._asked)  # pyright: ignore[reportArgumentType]
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(before=self._before_fork)

    def _before_fork(self) -> None:
        if not self.has_entered:
            self._give_up("it forks before it imports its packages")

    def _enter(self) -> None:
        with self._lock:
            if self.has_entered:
                return
            why = self._why_not_now()
            if why is not None:
                self._give_up(why)
            self.has_entered = True
            sys.meta_path[:] = [finder for finder in sys.meta_path if finder is not self._asked]
            sys.meta_path.extend(self._added_finders)
            os.environ.update(self._set_variables)
            _set_filters(self._added_filters + list(warnings.filters))
            sys.modules.update(self._modules)
            self.on_entrance()

    def _why_not_now(self) -> Optional[str]:
        if any(name in sys.modules for name in self._modules):
            return "it puts modules in place of its packages"
        changed = first_difference(self._at_start, surroundings(), SEEN_BY_IMPORTS)
        if changed is not None:
            return f"it changes {changed} before it imports its packages"
        names = variables.differing(self._environment, os.environ, self._read.names)
        if names:
            return f"it sets {', '.join(names)} before it imports its packages"
        if not _ends_with(warnings.filters, self._filters):
            return "it changes the warnings filters before it imports its packages"
        own = warnings.filters[: len(warnings.filters) - len(self._filters)]
        if any(each[0] != "ignore" for each in own):
            return "it adds warnings filters before it imports its packages"
        if [finder for finder in sys.meta_path if finder is not self._asked] != self._finders:
            return "it changes how modules are found before it imports its packages"
        return self._shadowed([entry for entry in sys.path if entry not in self._path])

    def _shadowed(self, folders: Sequence[str]) -> Optional[str]:
        """A module of the script's own that the packages would have found in place of theirs, or of none."""
        for name in sorted(self._names | self._missing.names):
            spec = PathFinder.find_spec(name, list(folders))
            if spec is not None and (spec.loader is not None or name in self._missing.names):
                return f"its own {name} goes before that of the packages"
        return None


class _Finder:
    """Answers the script's imports of modules that wait."""

    def __init__(self, modules: Dict[str, ModuleType], enter: Callable[[], None]) -> None:
        self._modules = modules
        self._enter = enter

    def find_spec(
        self, name: str, _path: Optional[Sequence[str]] = None, _target: Optional[ModuleType] = None
    ) -> Optional[ModuleSpec]:
        module = self._modules.get(name)
        if module is None or module.__spec__ is None:
            return None
        spec = copy.copy(module.__spec__)
        spec.loader = _Loader(module, self._enter)  # pyright: ignore[reportAttributeAccessIssue]
        return spec


class _Loader:
    """Lets all modules enter when the first one is loaded; one that is only looked for changes nothing."""

    def __init__(self, module: ModuleType, enter: Callable[[], None]) -> None:
        self._module = module
        self._own_spec = module.__spec__
        self._enter = enter

    def __getattr__(self, name: str) -> Any:
        return getattr(self._own_spec and self._own_spec.loader, name)

    def create_module(self, _spec: ModuleSpec) -> ModuleType:
        self._enter()
        return self._module

    def exec_module(self, module: ModuleType) -> None:
        module.__spec__ = self._own_spec


def _ends_with(values: Sequence[Any], end: Sequence[Any]) -> bool:
    return list(values[len(values) - len(end) :]) == list(end)


def _set_filters(filters: Sequence[Any]) -> None:
    current: Any = warnings.filters
    current[:] = filters
    # Has each module's memory of warnings that were shown begin anew, as any change of the filters does.
    getattr(warnings, "_filters_mutated", int)()
