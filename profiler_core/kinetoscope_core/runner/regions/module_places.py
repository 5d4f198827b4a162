"""Where a module stands in the user's source: the line that made it, and its class's `forward`."""

import os
import weakref
from types import CodeType, FrameType
from typing import Any, Dict, List, NamedTuple, Optional

from ..own_files import is_the_user_s
from .places import Level, code_of


class _Made(NamedTuple):
    module: "weakref.ref[Any]"
    code: CodeType
    line: int


class ModulePlaces:
    """Remembers the user's line that made each module, from the moment that `nn.Module.__init__` runs.

    What is made without it (copied, unpickled) stands where the module around it was made, else at the line that calls.
    """

    def __init__(self) -> None:
        self.ignored_folder = ""
        """Torch's own, which may be one of sources."""
        self._made: Dict[int, _Made] = {}
        self._is_users: Dict[str, bool] = {}

    def note_made(self, module: Any, frame: Optional[FrameType]) -> None:
        """That `nn.Module.__init__` is called from this frame: by an `__init__` of the module, or by none."""
        while frame is not None and _is_of(module, frame):
            frame = frame.f_back
        frame = self._first_of_the_user(frame)
        if frame is not None:
            number = id(module)
            gone = weakref.ref(module, lambda _: self._made.pop(number, None))
            self._made[number] = _Made(gone, frame.f_code, frame.f_lineno)

    def levels(self, module: Any, around: Any, caller: FrameType) -> List[Level]:
        """The user's lines of a module, as `Place` takes them: its class's `forward`, where that is the user's, then
        where it, or what is `around` it, was made. `caller` is the frame that calls it.
        """
        found: List[Level] = []
        forward = code_of(forward_of(module))
        if forward is not None and self._is_the_user_s(forward):
            found.append(Level(forward, forward.co_firstlineno, "forward"))
        made = self._made_at(module) or (None if around is None else self._made_at(around))
        if made is not None:
            found.append(Level(made.code, made.line, "own"))
        if not found:
            frame = self._first_of_the_user(caller) or caller
            found.append(Level(frame.f_code, frame.f_lineno, "own"))
        return found

    def _made_at(self, module: Any) -> Optional[_Made]:
        made = self._made.get(id(module))
        return made if made is not None and made.module() is module else None

    def _first_of_the_user(self, frame: Optional[FrameType]) -> Optional[FrameType]:
        while frame is not None and not self._is_the_user_s(frame.f_code):
            frame = frame.f_back
        return frame

    def _is_the_user_s(self, code: CodeType) -> bool:
        file = code.co_filename
        known = self._is_users.get(file)
        if known is None:
            known = is_the_user_s(file) and not file.startswith(self.ignored_folder or os.devnull)
            self._is_users[file] = known
        return known


def forward_of(module: Any) -> Any:
    """Its class's `forward` as it stands there; asking the class for it fails with TorchScript."""
    return next((each.__dict__["forward"] for each in type(module).__mro__ if "forward" in each.__dict__), None)


def has_forward(module: Any) -> bool:
    """Whether it can be called: `ModuleList` and the like cannot."""
    return "forward" in module.__dict__ or getattr(forward_of(module), "__name__", "") != "_forward_unimplemented"


def _is_of(module: Any, frame: FrameType) -> bool:
    """Whether it runs a method of this very module; dynamo puts one around `__init__`."""
    names = frame.f_code.co_varnames
    return bool(names) and frame.f_locals.get(names[0]) is module
