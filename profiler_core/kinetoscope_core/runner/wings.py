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

from . import packages, variables
from .groups import Group, NotPrepared, UsersModules, ends_with
from .imports import on_import
from .output import output_held
from .reads import Reads, mark_of
from .surroundings import NOT_SEEN, Functions, first_difference, surroundings

ALONE = ("typing_extensions", "numpy")
"""torch imports them, and scripts do without it."""


class Wings:
    """Modules imported ahead. `give_up(why)` ends the process, for a plain run to begin."""

    def __init__(self, loaded_by_python: AbstractSet[str], give_up: Callable[[str], None]) -> None:
        self._give_up = give_up
        self._loaded_by_python = loaded_by_python
        self._waiting: List[Group] = []
        self._modules: Dict[str, ModuleType] = {}
        self._lock = threading.RLock()

    # --- ahead of the script

    def preload(self, names: Sequence[str], prime: Callable[[Any], None]) -> None:
        """Imports torch and the packages of these names, has `prime` use torch, and takes all that back.

        Raises `NotPrepared` if that leaves a trace that a script finds.
        """
        before = surroundings()
        self._path = list(sys.path)
        self._installed = packages.installed()
        written: List[str] = []
        with UsersModules(), Reads() as self._reads, output_held(written):
            for alone in ALONE:
                if PathFinder.find_spec(alone) is not None:
                    self._waiting.append(Group([alone]))
            self._reads.imported.clear()
            self._waiting.append(Group(["torch", *names]))
            for group in self._waiting[:-1]:
                if group.names[0] not in self._reads.imported:
                    raise NotPrepared(f"torch does not import {group.names[0]}")
        if written:
            raise NotPrepared(f"importing the packages prints: {written[0]}")
        loaded = set(sys.modules)
        prime(sys.modules["torch"])
        came = {name: module for name, module in sys.modules.items() if name not in loaded}
        self._waiting[-1].modules.update({name: came[name] for name in came if packages.is_of_a_package(name)})
        for group in self._waiting:
            self._modules.update(group.modules)
        self._names = self._names_of_files()
        files = [packages.origin_of(module) for module in self._modules.values()]
        # Whether the script is there is asked by torch; that it was edited meanwhile is the usual case.
        script = os.path.realpath(str(getattr(sys.modules["__main__"], "__file__", "")))
        read = {file: mark for file, mark in self._reads.files.items() if os.path.realpath(file) != script}
        self._files = {**read, **{file: mark_of(file) for file in files if file is not None}}
        # Taking back would put them right, but not for a script that imports a package and not torch.
        if surroundings()["hooks"] != before["hooks"]:
            raise NotPrepared("importing the packages changes hooks")
        for group in reversed(self._waiting):
            group.take_back()
        for module in packages.of_the_library():  # one that was loaded and changed by the same import
            for name, value in vars(module).items():
                if packages.is_third_party(getattr(getattr(value, "__code__", None), "co_filename", None)):
                    raise NotPrepared(f"importing the packages replaces {module.__name__}.{name}")
        after = surroundings()
        changed = first_difference(before, after, [name for name in before if name != "threads"])
        if changed is not None:
            raise NotPrepared(f"importing the packages changes {changed}")
        if set(after["threads"]) - set(before["threads"]):
            raise NotPrepared("importing the packages starts threads")

    def _names_of_files(self) -> List[str]:
        """The top-level modules that another file of that name could go before, loaded now or looked for in vain."""
        names = {name for name in sys.modules if "." not in name and name not in self._loaded_by_python}
        specs = {name: getattr(sys.modules[name], "__spec__", None) for name in names}
        has_no_file = ("built-in", "frozen")
        found = {name for name, spec in specs.items() if spec is not None and spec.origin not in has_no_file}
        return sorted(found | self._reads.missing_modules)

    # --- when the run is asked for

    def why_not(self, folders: Sequence[str], is_as_announced: bool) -> Optional[str]:
        """Why a script whose own modules lie in these folders has to run plain, if it has to.

        Raises `NotPrepared` where any script had to, since the packages are no longer what was imported.
        """
        if packages.installed() != self._installed:
            raise NotPrepared("packages were installed or removed")
        if any(mark_of(file) != mark for file, mark in self._files.items()):
            raise NotPrepared("files that the packages read have changed")
        if self._reads.arguments and not is_as_announced:
            raise NotPrepared("the packages look at the script's arguments, which are other ones")
        return self._shadowed(folders)

    def stand_by(self, callbacks: Dict[str, Callable[[ModuleType], None]]) -> None:
        """From here on the script's imports are answered. Each callback is called when its module has entered."""
        self._callbacks = {name: callback for name, callback in callbacks.items() if name in self._modules}
        on_import({name: callback for name, callback in callbacks.items() if name not in self._modules})
        sys.meta_path.insert(0, _Finder(self._modules, self._enter))  # pyright: ignore[reportArgumentType]
        self._note_state()
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(before=self._before_fork)

    def _note_state(self) -> None:
        self._at_start = surroundings()
        self._environment = variables.actual()
        self._arguments = sys.argv[1:]
        self._filters = list(warnings.filters)
        self._functions = Functions(packages.of_the_library())

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
            for each in [each for each in self._callbacks if each in sys.modules]:
                self._callbacks.pop(each)(sys.modules[each])
            if self._waiting:
                self._note_state()

    def _why_not_now(self, name: str, group: Group) -> Optional[str]:
        top = name.partition(".")[0]
        if "torch" not in sys.modules and len(group.names) == 1 and top not in group.names:
            return f"it imports {top}, which torch brings, before torch"
        names = variables.differing(self._environment, variables.actual(), self._reads.environment, variables.PREFIXES)
        if names:
            return f"it sets {', '.join(names)} before it imports torch"
        seen = [each for each in self._at_start if each not in NOT_SEEN]
        changed = first_difference(self._at_start, surroundings(), seen)
        if changed is not None:
            return f"it changes {changed} before it imports torch"
        if not ends_with(warnings.filters, self._filters):
            return "it changes the warnings filters before it imports torch"
        own = warnings.filters[: len(warnings.filters) - len(self._filters)]
        if any(each[0] != "ignore" for each in own):
            return "it adds warnings filters before it imports torch"
        if self._reads.arguments and sys.argv[1:] != self._arguments:
            return "it changes sys.argv before it imports torch"
        for holder, replaced, *_ in self._functions.replaced():
            return f"it replaces {holder.__name__}.{replaced} before it imports torch"
        conflicts = filter(None, (each.conflict() for each in self._waiting))
        return next(conflicts, None) or self._shadowed([entry for entry in sys.path if entry not in self._path])

    def _shadowed(self, folders: Sequence[str]) -> Optional[str]:
        """What of the script's own folders the packages would have found in place of theirs, or of none."""
        for name in self._names:
            spec = PathFinder.find_spec(name, list(folders))
            if spec is not None and (spec.loader is not None or name in self._reads.missing_modules):
                return f"its own {name} goes before that of the packages"
        for folder in folders:  # torch looks through what is installed for backends
            if os.path.isdir(folder) and any(each.endswith((".dist-info", ".egg-info")) for each in os.listdir(folder)):
                return f"packages are installed in {folder}, where it looks for modules"
        return None


class _Finder:
    """Answers the script's imports of modules that wait."""

    def __init__(self, modules: Dict[str, ModuleType], enter: Callable[[str], None]) -> None:
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

    def __init__(self, module: ModuleType, enter: Callable[[str], None]) -> None:
        self._module = module
        self._own_spec: Any = module.__spec__
        self._enter = enter

    def __getattr__(self, name: str) -> Any:
        return getattr(self._own_spec.loader, name)

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        self._enter(spec.name)
        return self._module

    def exec_module(self, module: ModuleType) -> None:
        module.__spec__ = self._own_spec
