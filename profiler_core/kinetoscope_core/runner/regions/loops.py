"""Whether code that runs now may run again: whether a loop is around it, in its function or in one that called it."""

import dis
import sys
from bisect import bisect_right
from types import CodeType, FrameType
from typing import List, Optional, Set

_ENDS = frozenset(("RETURN_VALUE", "RETURN_CONST", "RAISE_VARARGS", "RERAISE"))
_ALWAYS = frozenset(("JUMP_FORWARD", "JUMP_ABSOLUTE", "JUMP_BACKWARD", "JUMP_BACKWARD_NO_INTERRUPT"))


def comes_again() -> bool:
    """Whether what calls this may run a second time."""
    return is_in_a_loop(sys._getframe(1))


def is_in_a_loop(frame: Optional[FrameType]) -> bool:
    """Whether any frame from this one outwards is inside a loop; what awaits is in one, too."""
    while frame is not None:
        if _is_looping(frame.f_code, frame.f_lasti):
            return True
        frame = frame.f_back
    return False


def _is_looping(code: CodeType, offset: int) -> bool:
    """Whether the instruction at the offset leads back to itself. What only an exception leads to is not followed."""
    instructions = list(dis.get_instructions(code))
    index_of = {instruction.offset: index for index, instruction in enumerate(instructions)}
    # It may be that of an instruction's cache.
    start = bisect_right([instruction.offset for instruction in instructions], offset) - 1
    ahead: List[int] = [start]
    seen: Set[int] = set()
    while ahead:
        index = ahead.pop()
        instruction = instructions[index]
        jumps = instruction.opcode in dis.hasjabs or instruction.opcode in dis.hasjrel
        following: List[int] = []
        if jumps and not instruction.opname.startswith("SETUP_"):
            following.append(index_of[instruction.argval])
        if instruction.opname not in _ENDS and instruction.opname not in _ALWAYS and index + 1 < len(instructions):
            following.append(index + 1)
        if start in following:
            return True
        ahead += [each for each in following if each not in seen]
        seen.update(following)
    return False
