"""torch and what else was imported ahead of the script: it waits in the wings until the script imports it.

Until then the script finds `sys.modules`, the environment, the warnings filters, loggers, finders and exit handlers as
if nothing had been imported. When it imports torch, all of it enters, if that import would have gone the same way now;
else the run has to be a plain one.
"""

import copy
import inspect  # noqa: F401 # pyright: ignore[reportUnusedImport] - torch replaces a function of it, and what it was has to be known
import os
import sys
import threading
import warnings
from importlib.machinery import ModuleSpec, PathFinder
from types import ModuleType
from typing import AbstractSet, Any, Callable, Dict, List, Optional, Sequence

from ..imports import on_import
from ..output import output_held
from . import packages, variables
from .groups import Group, NotPrepared, ends_with
from .reads import Reads
from .surroundings import NOT_SEEN, TAKEN_BACK, KnownNames, first_difference, surroundings

ALONE = ("typing_extensions", "numpy")
"""torch imports them, and scripts do without it."""


class ImportedAhead:
    """Modules imported ahead. `give_up(why)` ends the process, for a plain run to begin."""

    def __init__(self, loaded_by_python: AbstractSet[str], give_up: Callable[[str], None]) -> None:
        self._give_up = give_up
        self._loaded_by_python = loaded_by_python
        self._waiting: List[Group] = []
        self._modules: Dict[str, ModuleType] = {}
        self._reads = Reads()
        self._lock = threading.RLock()

    # --- ahead of the script

    def preload(self, names: Sequence[str], prime: Callable[[Any], None]) -> None:
        """Imports torch and the packages of these names, has `prime` use torch, and takes all that back.

        Raises `NotPrepared` if that leaves a trace that a script finds.
        """
        self._arguments = sys.argv[1:] if names else None
        self._files = packages.installed()
        with packages.found_alone():
            self._path = list(sys.path)
            before = surroundings()
            self._import(["torch", *names], lambda: prime(sys.modules["torch"]))
            changed = first_difference(before, TAKEN_BACK)
            if changed is not None:
                raise NotPrepared(f"importing the packages changes {changed}")
        for group in self._waiting:
            self._modules.update(group.modules)
        self._names = self._names_of_files()
        self._files.update(self._marks())
        for group in reversed(self._waiting):
            group.take_back()
        for module in packages.of_the_library():  # one that was loaded and changed by the same import
            for name, value in vars(module).items():
                if packages.is_third_party(getattr(getattr(value, "__code__", None), "co_filename", None)):
                    raise NotPrepared(f"importing the packages replaces {module.__name__}.{name}")

    def _import(self, names: Sequence[str], use: Callable[[], None]) -> None:
        written: List[str] = []
        with output_held(written):
            self._waiting = [Group([alone], self._reads) for alone in ALONE if PathFinder.find_spec(alone) is not None]
            self._reads.imported.clear()
            self._waiting.append(Group(names, self._reads, use))
        if written:
            raise NotPrepared(f"importing the packages prints: {written[0]}")
        for group in self._waiting[:-1]:
            if group.names[0] not in self._reads.imported:
                raise NotPrepared(f"torch does not import {group.names[0]}")

    def _names_of_files(self) -> List[str]:
        """The top-level modules that another file of that name could go before, loaded now or looked for in vain."""
        specs = {name: getattr(module, "__spec__", None) for name, module in sys.modules.items() if "." not in name}
        found = {name for name, spec in specs.items() if spec and spec.origin not in ("built-in", "frozen")}
        return sorted((found - self._loaded_by_python) | self._reads.missing_modules)

    def _marks(self) -> Dict[str, Any]:
        """Of the files that were read, but for the script: torch asks whether it is there, and it may be edited."""
        script = os.path.realpath(str(getattr(sys.modules["__main__"], "__file__", "")))
        read = {file: mark for file, mark in self._reads.files.items() if os.path.realpath(file) != script}
        files = [packages.origin_of(module) for module in self._modules.values()]
        return {**read, **{file: packages.mark_of(file) for file in files if file is not None}}

    # --- when the run is asked for

    def check_files(self) -> None:
        """Raises `NotPrepared` if the packages are no longer what was imported, whatever script runs."""
        changed = next((file for file, mark in self._files.items() if packages.mark_of(file) != mark), None)
        if changed is not None:
            raise NotPrepared(f"files that the packages read have changed, as {changed}")

    def stand_by(self, callbacks: Dict[str, Callable[[ModuleType], None]]) -> None:
        """From here on the script's imports are answered. Each callback is called when its module has entered."""
        self._callbacks = {name: callback for name, callback in callbacks.items() if name in self._modules}
        on_import({name: callback for name, callback in callbacks.items() if name not in self._modules})
        self._finder = _Finder(self._modules, self._enter)
        sys.meta_path.insert(0, self._finder)  # pyright: ignore[reportArgumentType]
        self._note_state()
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(before=self._before_fork)

    def _note_state(self) -> None:
        self._at_start = surroundings()
        self._environment = variables.actual()
        self._filters = list(warnings.filters)
        self._functions = KnownNames(packages.of_the_library())

    def _before_fork(self) -> None:
        if self._waiting:
            self._give_up("it forks before it imports torch")

    def _enter(self, name: str) -> None:
        """Has the module enter with its group; with torch all of them."""
        with self._lock:
            group = next((group for group in self._waiting if name in group.modules), None)
            if group is None:  # another thread was quicker
                return
            why = self._why_not_now(name, group)
            if why:
                self._give_up(why)
            entering = self._waiting[:] if group is self._waiting[-1] else [group]
            for each in entering:
                self._waiting.remove(each)
                each.bring()
                for module in each.modules:  # from now on, one that leaves `sys.modules` is imported anew
                    del self._modules[module]
            entered = [each for each in self._callbacks if each in sys.modules]
            if entered:
                on_import({each: self._callbacks.pop(each) for each in entered})
            if self._waiting:
                self._note_state()
            else:
                sys.meta_path.remove(self._finder)  # pyright: ignore[reportArgumentType]

    def _why_not_now(self, name: str, group: Group) -> Optional[str]:
        top = name.partition(".")[0]
        if "torch" not in sys.modules and len(group.names) == 1 and top not in group.names:
            return f"it imports {top}, which torch brings, before torch"
        names = variables.differing(self._environment, variables.actual(), self._reads.environment, variables.PREFIXES)
        if names:
            return f"it sets {', '.join(names)} before it imports torch"
        changed = first_difference(self._at_start, NOT_SEEN)
        own = warnings.filters[: len(warnings.filters) - len(self._filters)]
        if not ends_with(warnings.filters, self._filters) or any(each[0] != "ignore" for each in own):
            changed = "the warnings filters"
        if self._arguments not in (None, sys.argv[1:]):
            changed = "sys.argv"
        if changed is not None:
            return f"it changes {changed} before it imports torch"
        for holder, replaced, *_ in self._functions.changes():
            return f"it replaces {holder.__name__}.{replaced} before it imports torch"
        conflicts = filter(None, (each.conflict() for each in self._waiting))
        return next(conflicts, None) or self._shadowed([entry for entry in sys.path if entry not in self._path])

    def _shadowed(self, folders: Sequence[str]) -> Optional[str]:
        """What of the script's own folders the packages would have found in place of theirs, or of none."""
        for name in self._names:
            spec = PathFinder.find_spec(name, list(folders))
            if spec is not None and (spec.loader is not None or name in self._reads.missing_modules):
                return f"its own module {name} comes before that of the packages"
        for folder in folders:  # torch looks through what is installed for backends
            if os.path.isdir(folder) and any(each.endswith((".dist-info", ".egg-info")) for each in os.listdir(folder)):
                return f"packages are installed in {folder}, where the script looks for its modules"
        return None


class _Finder:
    """Answers the script's imports of modules that wait: they enter when one is loaded, not when one is looked for."""

    def __init__(self, modules: Dict[str, ModuleType], enter: Callable[[str], None]) -> None:
        self._modules = modules
        self._enter = enter

    def find_spec(
        self, name: str, _path: Optional[Sequence[str]] = None, _target: Optional[ModuleType] = None
    ) -> Optional[ModuleSpec]:
        waiting = self._modules.get(name)
        if waiting is None or waiting.__spec__ is None:
            return None
        own = waiting.__spec__

        def create(_spec: ModuleSpec) -> ModuleType:
            self._enter(name)
            return waiting

        def execute(module: ModuleType) -> None:
            module.__spec__ = own

        spec = copy.copy(own)
        loader: Any = copy.copy(own.loader)
        loader.create_module, loader.exec_module = create, execute
        spec.loader = loader
        return spec
