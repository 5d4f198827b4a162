"""Calls back when the script imports a module, so that torch is imported by the script alone, at its own time.

A script may set `CUDA_VISIBLE_DEVICES` and the like before it imports torch: we must not be earlier.
"""

import sys
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any, Callable, Dict, Optional, Sequence

Callback = Callable[[ModuleType], None]


class _Finder:
    """A finder that finds nothing itself: it lets the others find, and stands behind the loader they give."""

    def __init__(self, callbacks: Dict[str, Callback]) -> None:
        self._callbacks = callbacks

    def find_spec(
        self, name: str, path: Optional[Sequence[str]] = None, target: Optional[ModuleType] = None
    ) -> Optional[ModuleSpec]:
        callback = self._callbacks.get(name)
        if callback is None:
            return None
        for finder in sys.meta_path:
            if finder is self or not hasattr(finder, "find_spec"):
                continue
            spec = finder.find_spec(name, path, target)
            if spec is not None:
                if spec.loader is not None:
                    self._call_after(spec.loader, callback)
                return spec
        return None

    @staticmethod
    def _call_after(loader: Any, callback: Callback) -> None:
        execute = loader.exec_module

        def execute_and_call(module: ModuleType) -> None:
            del loader.exec_module
            execute(module)
            callback(module)

        loader.exec_module = execute_and_call


def on_import(callbacks: Dict[str, Callback]) -> None:
    """Calls each callback with its module, right after the module was executed, as often as it is (`importlib.reload`).

    At once, too, where it was executed already.
    """
    if callbacks:
        sys.meta_path.insert(0, _Finder(callbacks))  # pyright: ignore[reportArgumentType]
    for name, callback in callbacks.items():
        if name in sys.modules:
            callback(sys.modules[name])
