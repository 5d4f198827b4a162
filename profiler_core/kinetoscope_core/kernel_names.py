"""Short names of GPU activities, which begin with what tells them apart. docs/measures.md says what is left out.

The one place that shortens them: the terminal, hovers, findings and Details show the same.
"""

import re
from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import Final

_LAMBDA: Final = re.compile(r"(?:\{lambda|'lambda\d*')\s*\(")
_FUNCTOR: Final = re.compile(r"[Ff]unctor|Ops?$|^(?:plus|minus|multiplies|divides|maximum|minimum)$")
_WRAPPER: Final = re.compile(
    r"^(?:gpu_\w+|func_wrapper_t|ReduceOp|index_kernel_impl|\w+_and_transform|distribution_\w+)$"
)
"""What stands around the functor that says what is computed, and adds nothing to it."""
_OPERANDS: Final = re.compile(r"^[AB]?(?:Unary|Binary)Functor$")
"""Likewise, but it says what is computed with: one operand of a `BUnaryFunctor` is a number."""
_CARRIER: Final = re.compile(r"^(?:Kernel2?|device_kernel|kentry)$")
"""Kernels that are named by their first argument alone, as all of CUTLASS's are."""
_LITERAL: Final = re.compile(r"^(?:-?\d+|true|false)$")
_CAST: Final = re.compile(r"\((?:[\w:<>]|, )+\)(?=-?\d)")
_NAMESPACES: Final = re.compile(r"(?:\b[A-Za-z_]\w*::)+")
_SUFFIX: Final = re.compile(r"\b(\d+)(?:u|l|ul|ll|ull)\b")
_DEEPEST: Final = 50
"""Brackets in brackets: real names have half of them at most."""
_LENGTH: Final = re.compile(r"\d+")
_NUMBER: Final = re.compile(r"(#(?!1\b)\d+)")


@lru_cache(maxsize=4096)
def short_kernel_name(name: str) -> str:
    """`FusedAdamMathFunctor<float, 4> in multi_tensor_apply_kernel` for a name of 700 characters.

    Names that are no C++ functions stay as they are.
    """
    if name.startswith(("Memcpy", "Memset")):
        return name
    if name.startswith("_ZN"):
        return _mangled(name)
    text = name.partition(">::type ")[2] if name.startswith("std::enable_if<") else name
    text = _SUFFIX.sub(r"\1", _CAST.sub("", text.replace("(anonymous namespace)::", "")))
    try:
        base, arguments, around = _parts(_signature(text))
        if _CARRIER.match(base) and arguments:
            return _plain(arguments[0])
        functors = list(dict.fromkeys(filter(None, map(_functor, arguments))))
        if not functors:
            return _joined(f"{around}::{base}" if base == "kernel" and around else base, map(_plain, arguments))
        return f"{', '.join(functors)} in {_joined(base, filter(_LITERAL.match, arguments[:3]))}"
    except _OpenError:
        return name.removeprefix("void ")


class _OpenError(Exception):
    """A bracket that does not close, since the name was cut; or brackets that no compiler has written."""


def _mangled(name: str) -> str:
    """Without the namespaces: of ROCm's kernels, not all are demangled."""
    at, last = len("_ZN"), ""
    while found := _LENGTH.match(name, at):
        at = found.end() + int(found[0])
        last = name[found.end() : at]
    return last + name[at:] if last else name


def _split(text: str, separator: str) -> Iterator[str]:
    """The pieces between separators that stand in no bracket."""
    depth = begin = 0
    for place, character in enumerate(text):
        if character in "<([{":
            depth += 1
            if depth > _DEEPEST:
                raise _OpenError
        elif character in ">)]}":
            depth -= 1
            if depth < 0:
                raise _OpenError
        elif depth == 0 and text.startswith(separator, place) and place >= begin:
            yield text[begin:place]
            begin = place + len(separator)
    if depth:
        raise _OpenError
    yield text[begin:]


def _signature(text: str) -> str:
    """Without what a function takes and returns."""
    depth = 0
    for place, character in enumerate(text):
        if character == "(" and depth == 0 and place > 0 and not text.endswith("operator", 0, place):
            text = text[:place]
            break
        depth += (character in "<([{") - (character in ">)]}")
    return list(_split(text.strip(), " "))[-1]


def _parts(text: str) -> tuple[str, list[str], str]:
    """The last name, its template arguments, and the name around it."""
    *outer, last = _split(text, "::")
    base, bracket, arguments = last.partition("<")
    inside = [each.strip() for each in _split(arguments[:-1], ",")] if bracket else []
    return base, inside, outer[-1].partition("<")[0] if outer else ""


def _functor(argument: str) -> str | None:
    """What an argument computes, if it is a functor; of a lambda, the function that it is in and what it takes."""
    of_lambda = list(_LAMBDA.finditer(argument))
    pieces = [each for each in _split(argument, "::") if not each.startswith(("{", "operator"))]
    functions = [each for each in pieces if "(" in each.partition("<")[0] or (of_lambda and "<" in each)]
    if not pieces:
        return None
    function = (functions or pieces[-1:])[0]
    base, arguments, _ = _parts(_signature(function))
    inner = next(filter(None, map(_functor, arguments)), None)
    types = list(map(_plain, arguments))
    if inner is not None and _OPERANDS.match(base):
        of_others = [types[0]] if types[0] not in inner else []
        return inner if base == "BinaryFunctor" and not of_others else f"{inner} in {_joined(base, of_others)}"
    if inner is not None and _WRAPPER.match(base):
        return inner
    different = [each for place, each in enumerate(types) if _LITERAL.match(each) or each not in types[:place]]
    if of_lambda:
        takes, _, rest = argument[of_lambda[-1].end() :].partition(")")
        number = _NUMBER.match(rest)
        return f"{_joined(base, different)}({_plain(takes)})" + (number[1] if number else "")
    return _joined(base, different) if _FUNCTOR.search(base) else None


def _plain(text: str) -> str:
    return _NAMESPACES.sub("", text).replace(" >", ">").strip()


def _joined(base: str, arguments: Iterable[str]) -> str:
    inside = ", ".join(arguments)
    return f"{base}<{inside}>" if inside else base
