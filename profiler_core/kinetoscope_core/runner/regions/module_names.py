"""What modules are called: their path from the outermost module that was called, as `named_modules` has it.

Also which of them get a region: a choice by depth or class, by default so many that a reader can take them in.
"""

import functools
import re
import weakref
from typing import Any, Dict, Iterator, List, NamedTuple, Optional, Set

from ..request import ModuleChoice
from .entered_names import NamedRegion
from .module_places import has_forward

MOST_ROWS = 40
"""Names that differ only in their numbers count once."""

MOST_MODULES = 256
"""Of one model: each costs some 0.1 ms a call under the profiler (facts/gpu.md)."""

_NUMBER = re.compile(r"(?:(?<=\.)|^)[0-9]+(?=\.|$)")
_OF_COMPILED = "_orig_mod"


class _Found(NamedTuple):
    """A module in a model. `around` holds it; `depth` counts the modules above it that are called: a `ModuleList` is
    not.
    """

    module: Any
    around: Any
    name: str
    depth: int


class Named(NamedTuple):
    """What a module is called, in a model of `size` modules. `regions` has the region of its calls, by whether they are
    in a backward pass.
    """

    module: "weakref.ref[Any]"
    around: "Optional[weakref.ref[Any]]"
    name: str
    size: int
    is_chosen: bool
    regions: Dict[bool, NamedRegion]


class ModuleNames:
    """The names of all modules that were seen."""

    def __init__(self, choice: ModuleChoice) -> None:
        self._choice = choice
        self._named: Dict[int, Named] = {}
        self.classes: Set[str] = set()
        self.left_out = 0
        """How many got no region for their depth."""
        self.depth = -1
        """How deep those stand that have one, where some were left out."""

    def of(self, module: Any) -> Named:
        """What a module is called. One that is part of none that was called before is the outermost of its names."""
        found = self._named.get(id(module))
        if found is None or found.module() is not module:
            self._name_all(list(_walk(module, None, "", 0, set())))
            found = self._named[id(module)]
        return found

    def _name_all(self, found: List[_Found]) -> None:
        deepest = self._deepest(found)
        for module, around, name, depth in found:
            known = self._named.get(id(module))
            if known is not None and known.module() is module and known.size >= len(found):
                continue  # it is part of a larger model, by whose names it goes
            is_chosen = self._is_chosen(module, depth, deepest)
            self.classes.add(class_of(module))
            if not is_chosen and not self._choice.classes:
                self.left_out += 1
                self.depth = deepest
            reference = weakref.ref(module, functools.partial(self._forget, id(module)))
            holder = None if around is None else weakref.ref(around)
            self._named[id(module)] = Named(reference, holder, name, len(found), is_chosen, {})

    def _forget(self, number: int, _gone: object) -> None:
        self._named.pop(number, None)

    def _is_chosen(self, module: Any, depth: int, deepest: int) -> bool:
        if self._choice.classes:
            return not set(self._choice.classes).isdisjoint(each.__name__ for each in type(inner_of(module)).__mro__)
        return depth <= deepest

    def _deepest(self, found: List[_Found]) -> int:
        """How deep those go that get a region."""
        deepest = max(each.depth for each in found)
        if self._choice.depth is not None:
            return self._choice.depth
        for depth in range(2, deepest + 1):
            chosen = [each.name for each in found if each.depth <= depth]
            if len(chosen) > MOST_MODULES or len({_NUMBER.sub("*", name) for name in chosen}) > MOST_ROWS:
                return depth - 1
        return deepest


def inner_of(module: Any) -> Any:
    """What `torch.compile` made a module from; any other is itself."""
    held: Any = module.__dict__.get("_modules")
    return module if held is None or _OF_COMPILED not in held else held[_OF_COMPILED]


def class_of(module: Any) -> str:
    """The name of its class, or of the class of what `torch.compile` made it from."""
    return type(inner_of(module)).__name__


def _walk(module: Any, around: Any, path: str, depth: int, seen: Set[int]) -> Iterator[_Found]:
    """The module and all in it that can be called, each once, those around first."""
    if id(module) in seen:
        return
    seen.add(id(module))
    is_called = around is None or has_forward(module)
    if is_called:
        yield _Found(module, around, path or class_of(module), depth)
    for name, child in list(module._modules.items()):
        if child is not None:
            is_inner = name == _OF_COMPILED
            inner = path if is_inner else f"{path}.{name}" if path else name
            yield from _walk(child, module, inner, depth + (is_called and not is_inner), seen)
