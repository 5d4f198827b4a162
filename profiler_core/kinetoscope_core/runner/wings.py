"""Third-party modules that were imported ahead of the script and wait in the wings until it imports one of them.

Until then the script finds `sys.modules`, the environment, the warnings filters, loggers and finders as if nothing had
been imported. When it imports one, this one and what came before it enter, if the import would have gone the same way
now; else the run has to be a cold one.
"""

import copy
import os
import sys
import threading
import warnings
from importlib.machinery import ModuleSpec, PathFinder
from types import ModuleType
from typing import AbstractSet, Any, Callable, Dict, Iterable, List, Mapping, Optional, Sequence

from . import packages, variables
from .groups import Group, NotPrepared, UsersModules, ends_with
from .imports import on_import
from .output import output_held
from .reads import MissingModules
from .surroundings import EXIT_HANDLERS, SEEN_BY_IMPORTS, first_difference, surroundings

_MAY_CHANGE = (EXIT_HANDLERS, "threads")
"""By importing ahead: what is registered is registered before the script's own, as always; threads are looked at."""


class Wings:
    """Modules imported ahead. `give_up(why)` ends the process for a cold run to begin; in a forked child it returns."""

    def __init__(self, loaded_by_python: AbstractSet[str], give_up: Callable[[str], None]) -> None:
        self._give_up = give_up
        self._loaded_by_python = loaded_by_python
        self._waiting: List[Group] = []
        self._set_by_torch: Mapping[str, str] = {}
        self._modules: Dict[str, ModuleType] = {}
        self._has_entered = False
        self._lock = threading.RLock()

    # --- ahead of the script

    def preload(self, names: Sequence[str], prime: Optional[Callable[[Any], Mapping[str, str]]]) -> None:
        """Imports these modules, has `prime` use torch, and takes all that back.

        Raises `NotPrepared` if that leaves a trace that a script finds.
        """
        before = surroundings()
        self._path, hooks = list(sys.path), list(sys.path_hooks)
        self._installed = packages.installed()
        written: List[str] = []
        with UsersModules(), MissingModules() as self._missing, output_held(written):
            for name in names:
                if name not in sys.modules:
                    self._waiting.append(Group(name))
        if written:
            raise NotPrepared(f"importing the packages prints: {written[0]}")
        if prime is not None:
            self._set_by_torch = prime(sys.modules["torch"])
        self._check(before, surroundings())
        if sys.path_hooks != hooks:
            raise NotPrepared("importing the packages changes the path hooks")
        for group in self._waiting:
            self._modules.update(group.modules)
        self._names = self._names_of_files()
        files = [packages.origin_of(module) for module in self._modules.values()]
        self._files = {file: packages.mark_of(file) for file in files if file is not None}
        for group in reversed(self._waiting):
            group.take_back()

    def _check(self, before: Dict[str, Any], after: Dict[str, Any]) -> None:
        changed = first_difference(before, after, [name for name in before if name not in _MAY_CHANGE])
        if changed is not None:
            raise NotPrepared(f"importing the packages changes {changed}")
        if set(after["threads"]) - set(before["threads"]):
            raise NotPrepared("importing the packages starts threads")
        for group in self._waiting:
            of_user = packages.of_the_user(group.all_modules)
            if of_user is not None:
                raise NotPrepared(f"the packages import {of_user}, which is not one of them")
        self._seen = list(SEEN_BY_IMPORTS)
        if after[EXIT_HANDLERS] != before[EXIT_HANDLERS]:  # theirs come after those that the script registered before
            self._seen.append(EXIT_HANDLERS)

    def _names_of_files(self) -> List[str]:
        """The top-level modules that another file of that name could go before, loaded now or looked for in vain."""
        names = {name for name in sys.modules if "." not in name and name not in self._loaded_by_python}
        specs = {name: getattr(sys.modules[name], "__spec__", None) for name in names}
        has_no_file = ("built-in", "frozen")
        found = {name for name, spec in specs.items() if spec is not None and spec.origin not in has_no_file}
        return sorted(found | self._missing.names)

    # --- when the run is asked for

    def why_not(self, folders: Sequence[str]) -> Optional[str]:
        """Why a script whose own modules lie in these folders has to run cold, if it has to.

        Raises `NotPrepared` where any script had to, since the packages are no longer what was imported.
        """
        if packages.installed() != self._installed:
            raise NotPrepared("packages were installed or removed")
        if any(packages.mark_of(file) != mark for file, mark in self._files.items()):
            raise NotPrepared("files of the packages have changed")
        return self._shadowed(folders, self._names)

    def stand_by(self, callbacks: Dict[str, Callable[[ModuleType], None]]) -> None:
        """From here on the script's imports are answered. Each callback is called when its module has entered."""
        self._callbacks = {name: callback for name, callback in callbacks.items() if name in self._modules}
        on_import({name: callback for name, callback in callbacks.items() if name not in self._modules})
        self._at_start = surroundings()
        self._environment = variables.actual()
        self._filters = list(warnings.filters)
        self._finders = list(sys.meta_path)
        self._asked = _Finder(self._modules, self._enter)
        sys.meta_path.insert(0, self._asked)  # pyright: ignore[reportArgumentType]
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(before=self._before_fork)

    def _before_fork(self) -> None:
        if not self._has_entered:
            self._give_up("it forks before it imports its packages")

    def _enter(self, name: str) -> bool:
        """Has the module enter with its group, and all groups before it. False where they cannot."""
        with self._lock:
            while any(name in group.modules for group in self._waiting):
                group = self._waiting[0]
                why = self._why_not_now(group)
                if why:
                    self._give_up(why)
                    # We are a forked child, which cannot begin again: what waits is not used, and imported anew.
                    self._waiting.clear()
                    self._modules.clear()
                    return False
                self._has_entered = True
                self._waiting.pop(0)
                group.bring()
                for each in group.modules:  # from now on, one that leaves `sys.modules` is imported anew
                    del self._modules[each]
                self._environment.update(group.variables)
            for each in [each for each in self._callbacks if each in sys.modules]:
                self._callbacks.pop(each)(sys.modules[each])
        return True

    def _why_not_now(self, group: Group) -> Optional[str]:
        now = variables.actual()
        # What torch itself set when the script used CUDA is no change of the script's.
        self._environment.update({name: value for name, value in self._set_by_torch.items() if now.get(name) == value})
        prefixes = variables.OF_ANY_LIBRARY if self._has_entered else variables.PREFIXES
        if self._has_entered and not group.has_extensions:
            prefixes = ()
        names = variables.differing(self._environment, now, group.reads, prefixes)
        if names:
            return f"it sets {', '.join(names)} before it imports what reads that"
        own_folders = [entry for entry in sys.path if entry not in self._path]
        if self._has_entered:
            return group.conflict() or self._shadowed(own_folders, {name.partition(".")[0] for name in group.modules})
        changed = first_difference(self._at_start, surroundings(), self._seen)
        if changed is not None:
            return f"it changes {changed} before it imports its packages"
        if not ends_with(warnings.filters, self._filters):
            return "it changes the warnings filters before it imports its packages"
        own = warnings.filters[: len(warnings.filters) - len(self._filters)]
        if any(each[0] != "ignore" for each in own):
            return "it adds warnings filters before it imports its packages"
        if [finder for finder in sys.meta_path if finder is not self._asked] != self._finders:
            return "it changes how modules are found before it imports its packages"
        conflicts = filter(None, (each.conflict() for each in self._waiting))
        return next(conflicts, None) or self._shadowed(own_folders, self._names)

    def _shadowed(self, folders: Sequence[str], names: Iterable[str]) -> Optional[str]:
        """A module of the script's own that the packages would have found in place of theirs, or of none."""
        for name in names:
            spec = PathFinder.find_spec(name, list(folders))
            if spec is not None and (spec.loader is not None or name in self._missing.names):
                return f"its own {name} goes before that of the packages"
        return None


class _Finder:
    """Answers the script's imports of modules that wait."""

    def __init__(self, modules: Dict[str, ModuleType], enter: Callable[[str], bool]) -> None:
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
    """Lets modules enter when one is loaded; one that is only looked for changes nothing."""

    def __init__(self, module: ModuleType, enter: Callable[[str], bool]) -> None:
        self._module = module
        self._own_spec: Any = module.__spec__
        self._enter = enter
        self._has_entered = False

    def __getattr__(self, name: str) -> Any:
        return getattr(self._own_spec.loader, name)

    def create_module(self, spec: ModuleSpec) -> Optional[ModuleType]:
        self._has_entered = self._enter(spec.name)
        return self._module if self._has_entered else self._own_spec.loader.create_module(self._own_spec)

    def exec_module(self, module: ModuleType) -> None:
        module.__spec__ = self._own_spec
        if not self._has_entered:
            module.__loader__ = self._own_spec.loader
            self._own_spec.loader.exec_module(module)
