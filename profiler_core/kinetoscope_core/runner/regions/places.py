"""Where a region stands that a helper enters for others: a `@contextmanager`, a class, a decorator, a hook.

A helper is what a region outlives: a function that enters it and leaves it to another to end it, a generator that
contextlib runs up to its `yield`, a decorator's wrapper. Who called it is then asked in its place, and so on. What
seems to be a helper at an entry is known to be one when the region ends, by what is on the stack then.
Knows nothing of logs and profilers.
"""

import contextlib
import dis
import os
import sys
from types import CodeType, FrameType, FunctionType, MethodType
from typing import Any, Dict, List, NamedTuple, Optional, Set, Tuple

CONTEXTLIB = contextlib.__file__
_GENERATOR = 0x20 | 0x200  # inspect.CO_GENERATOR, CO_ASYNC_GENERATOR; inspect itself takes its time to import
_ALL_ARGUMENTS = 0x04 | 0x08  # CO_VARARGS, CO_VARKEYWORDS
_ENTERS = frozenset(("__enter__", "__aenter__", "enter_context", "enter_async_context"))
_METHODS = ("__enter__", "__aenter__")


Step = Tuple[CodeType, int, str, Optional[CodeType]]


class Level(NamedTuple):
    """One of the frames that an entry may belong to; `line` is from 1.

    `kind` is `generator`, `enters` or `wrapper` for what may be a helper, `forward` for that of a module's class, and
    `own` for what is none of these. `driver` is what runs a generator.
    """

    code: CodeType
    line: int
    kind: str
    driver: Optional[CodeType] = None

    @property
    def is_likely_a_helper(self) -> bool:
        """What is held of it until the first region that it entered has ended."""
        return self.kind in ("generator", "wrapper") or (self.kind == "enters" and self.code.co_name in _METHODS)


class Places:
    """Tells helpers from others, and remembers it. `ignored_folders` are those of torch and of ours."""

    def __init__(self, ignored_folders: Tuple[str, ...]) -> None:
        self.ignored_folders = ignored_folders
        self._kinds: Dict[int, str] = {}
        self._kept: List[CodeType] = []
        self._is_helper: Dict[Tuple[int, int], bool] = {}
        self._wrapped: Dict[Tuple[int, int], bool] = {}
        self._wrappers: Set[int] = set()

    def may_be_a_helper(self, frame: FrameType) -> bool:
        """Whether the region may stand further out; so it is with all that contextlib enters."""
        return self._kind(frame.f_code) not in ("own", "torch")

    def steps(self, frame: FrameType) -> List[Step]:
        """What `Level` is made of, of the frame and those further out, the last of which is no helper.

        Empty for an entry of torch's own. This is what each entry by a helper takes, so that it makes no objects.
        """
        found: List[Step] = []
        kinds, current = self._kinds, frame
        while current is not None:
            code = current.f_code
            kind = kinds.get(id(code)) or self._kind(code)
            if kind == "contextlib":
                decorated = code_of(current.f_locals.get("func")) if code.co_name == "inner" else None
                if decorated is not None:
                    found.append((decorated, decorated.co_firstlineno, "own", None))
                    break
            elif kind == "torch":
                if not found:
                    break
            elif kind == "closure":
                wrapped = self._wrapped_by(current)
                if wrapped is None:
                    found.append((code, current.f_lineno, "own", None))
                else:
                    found.append((code, current.f_lineno, "wrapper", None))
                    found.append((wrapped, wrapped.co_firstlineno, "own", None))
                break
            else:
                driver = current.f_back and current.f_back.f_code if kind == "generator" else None
                if kind == "generator" and (driver is None or driver.co_filename != CONTEXTLIB):
                    kind = "own"
                found.append((code, current.f_lineno, kind, driver))
                if kind == "own" or self._is_helper.get((id(code), current.f_lineno)) is False:
                    break
            current = current.f_back
        return found

    def settle(self, levels: List[Level], frame: FrameType) -> int:
        """Which level an ended region stands at; `frame` is the one that ended it."""
        stack: Dict[int, Optional[CodeType]] = {}
        current: Optional[FrameType] = frame
        while current is not None:
            stack.setdefault(id(current.f_code), current.f_back and current.f_back.f_code)
            current = current.f_back
        for index, level in enumerate(levels[:-1]):
            has_outlived = level.kind == "wrapper" or id(level.code) not in stack
            if level.kind == "generator" and not has_outlived:
                has_outlived = stack[id(level.code)] is not level.driver
            if level.kind != "wrapper":
                self._is_helper[id(level.code), level.line] = has_outlived
            if not has_outlived:
                return index
        return len(levels) - 1

    def _kind(self, code: CodeType) -> str:
        # By identity: the hash of a code object is made anew from its instructions each time, the longer the slower.
        kind = self._kinds.get(id(code))
        if kind is None:
            self._kept.append(code)  # else its id might be another's one day
            kind = self._kinds[id(code)] = self._new_kind(code)
        return kind

    def _new_kind(self, code: CodeType) -> str:
        if code.co_filename == CONTEXTLIB:
            return "contextlib"
        if code.co_filename.startswith(self.ignored_folders):
            return "torch"
        if code.co_flags & _GENERATOR:
            return "generator"
        if code.co_name == "<module>":
            return "own"
        if not _ENTERS.isdisjoint(code.co_names):
            return "enters"
        return "closure" if code.co_freevars else "own"

    def _wrapped_by(self, frame: FrameType) -> Optional[CodeType]:
        """The code of the function that this frame's one wraps, if it is sure that it does."""
        code, values = frame.f_code, frame.f_locals
        found: List[CodeType] = []
        for name in code.co_freevars:
            function = values.get(name)
            wrapped = code_of(function) if isinstance(function, (FunctionType, MethodType)) else None
            if wrapped is None:
                continue
            key = id(code), id(wrapped)
            if key not in self._wrapped:
                self._kept.append(wrapped)
                self._wrapped[key] = _passes_all_on(code) or _is_decorated_by(function, code)
            if self._wrapped[key]:
                found.append(wrapped)
        if found:
            self._wrappers.add(id(code))
        elif id(code) not in self._wrappers:
            self._kinds[id(code)] = "own"  # a closure like any other: not looked at again
        return found[0] if len(found) == 1 else None


def code_of(function: Any) -> Optional[CodeType]:
    """The code of a function, or of the innermost one that it wraps."""
    while hasattr(function, "__wrapped__"):
        function = function.__wrapped__
    code = getattr(getattr(function, "__func__", function), "__code__", None)
    return code if isinstance(code, CodeType) else None


def _passes_all_on(code: CodeType) -> bool:
    """Whether it takes any arguments, and calls something with any arguments."""
    if code.co_flags & _ALL_ARGUMENTS != _ALL_ARGUMENTS:
        return False
    return any(instruction.opname == "CALL_FUNCTION_EX" for instruction in dis.get_instructions(code))


def _is_decorated_by(function: Any, code: CodeType) -> bool:
    """Whether what stands under the function's name in its module or class is a function with this code."""
    found: Any = sys.modules.get(getattr(function, "__module__", None) or "")
    for part in getattr(function, "__qualname__", "<locals>").split("."):
        found = getattr(found, "__dict__", {}).get(part)
    while found is not None:
        found = getattr(found, "__func__", found)
        if isinstance(found, FunctionType) and found.__code__ is code:
            return True
        found = getattr(found, "__wrapped__", None)
    return False


def absolute(file: str) -> str:
    """The path of a code's file; what was made from a string has none."""
    return file if file.startswith("<") else os.path.abspath(file)
