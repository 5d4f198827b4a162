"""Regions that do not go through Python's `record_function`: the fast class of C, and the operators themselves.

`torch._C._profiler._RecordFunctionFast` can neither be patched nor derived from: a class of ours stands for it. The
objects of the operators stay what they are, only called through us. What torch itself enters is left alone.
"""

import functools
import sys
from typing import Any, Callable, Dict, Optional, Tuple

from .log import RegionLogger, safe_name


def hook_other_entries(log: RegionLogger, is_recorded_by_us: Callable[[], bool]) -> None:
    """Has the log note what is entered in these ways, as soon as torch has them."""
    operators: Any = getattr(getattr(sys.modules.get("torch._ops"), "ops", None), "profiler", None)
    if operators is not None:
        hook_operators(operators, log)
        hook_fast_class(sys.modules.get("torch._C._profiler"), operators, log, is_recorded_by_us)


def hook_fast_class(profiler: Any, operators: Any, log: RegionLogger, is_recorded_by_us: Callable[[], bool]) -> None:
    """Puts a class that notes entries in the place of `_RecordFunctionFast`, if the module has one (from torch 2.3 on).

    A trace has that as an operator like any other. In ours it is a region, entered by `operators`.
    """
    original: Any = getattr(profiler, "_RecordFunctionFast", None)
    if original is None:
        return

    class _RecordFunctionFast:
        __slots__ = ("_entry", "_handle", "_name", "_own")

        def __init__(self, name: Any, *arguments: Any, **options: Any) -> None:
            self._name = name
            self._own: Any = original(name, *arguments, **options)
            self._entry: Any = None
            self._handle: Any = None

        def __enter__(self) -> None:
            self._entry = log.note_entry(sys._getframe(1), self._name)
            if self._entry is not None and is_recorded_by_us():
                self._handle = operators._record_function_enter_new(_safe(self._name), None)
            else:
                self._own.__enter__()

        def __exit__(self, *exception: object) -> None:
            handle, entry = self._handle, self._entry
            self._handle = self._entry = None
            if handle is not None:
                operators._record_function_exit(handle)
            else:
                self._own.__exit__(*exception)
            if entry is not None:
                log.note_exit(entry, sys._getframe(1), _type_of(exception))

    for function in (_RecordFunctionFast.__init__, _RecordFunctionFast.__enter__, _RecordFunctionFast.__exit__):
        function._torchdynamo_disable = True  # type: ignore[attr-defined]  # as it breaks the graph at the class of C
    profiler._RecordFunctionFast = _RecordFunctionFast


def hook_operators(operators: Any, log: RegionLogger) -> None:
    """Notes when Python calls the operators that enter and leave a region. `operators` is `torch.ops.profiler`."""
    entries: Dict[int, Any] = {}

    def enter(call: Any, arguments: Any, options: Any) -> Any:
        entry = log.note_entry(sys._getframe(2), arguments[0]) if arguments else None
        if entry is None:
            return call(*arguments, **options)
        handle = call(_safe(arguments[0]), *arguments[1:], **options)
        entries[id(handle)] = entry
        return handle

    def leave(call: Any, arguments: Any, options: Any) -> Any:
        result = call(*arguments, **options)
        entry = entries.pop(id(arguments[0]), None) if arguments else None
        if entry is not None:
            log.note_exit(entry, sys._getframe(2), None)
        return result

    for name, around in (
        ("_record_function_enter", enter),
        ("_record_function_enter_new", enter),
        ("_record_function_exit", leave),
    ):
        operator = getattr(operators, name, None)
        if operator is not None:
            _call_through(operator, around)


def _call_through(operator: Any, around: Any) -> None:
    kind: Any = operator.__class__

    def call(self: Any, /, *arguments: Any, **options: Any) -> Any:
        return around(functools.partial(kind.__call__, self), arguments, options)

    members = {"__call__": call, "__module__": kind.__module__, "__qualname__": kind.__qualname__}
    operator.__class__ = type(kind.__name__, (kind,), members)


def _type_of(exception: Tuple[object, ...]) -> Optional[type]:
    return exception[0] if exception and isinstance(exception[0], type) else None


def _safe(name: Any) -> Any:
    return safe_name(name) if isinstance(name, str) else name
