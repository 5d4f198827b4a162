"""The helpers that a file imports: from open files, and from those on disk where Python would look for them."""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Final

from kinetoscope_core.source.regions import Helpers, Import, SourceRegions, helpers_of

_MOST_BYTES: Final = 1_000_000
_FOLDERS_ABOVE: Final = 3


class ImportedHelpers:
    """Answers `of`. Reads a file again only when its time or size has changed."""

    def __init__(self) -> None:
        self._on_disk: dict[str, tuple[tuple[int, int], Helpers]] = {}

    def of(self, path: str, imports: Iterable[Import], opened: Mapping[str, Helpers]) -> Helpers:
        """What the file calls them; `opened` has the helpers of open files, by path."""
        called, decorators = set[bytes](), set[bytes]()
        for each in imports:
            helpers = self._in_module(path, each.module, opened)
            if each.name is None:
                called |= helpers.called
                decorators |= {each.alias + b"." + name for name in helpers.decorators}
            elif each.name in helpers.called:
                called.add(each.alias)
            elif each.name in helpers.decorators:
                decorators.add(each.alias)
        return Helpers(frozenset(called), frozenset(decorators))

    def _in_module(self, path: str, module: str, opened: Mapping[str, Helpers]) -> Helpers:
        names = module.lstrip(".")
        dots = len(module) - len(names)
        inside = Path(*names.split(".")) if names else Path()
        folders = [*Path(path).parents]
        for folder in folders[dots - 1 : dots] if dots else folders[: _FOLDERS_ABOVE + 1]:
            for file in (folder / inside.with_suffix(".py") if names else None, folder / inside / "__init__.py"):
                found = None if file is None else opened.get(str(file)) or self._read(str(file))
                if found is not None:
                    return found
        ends = (f"/{inside.as_posix()}.py", f"/{inside.as_posix()}/__init__.py")
        elsewhere = (found for file, found in opened.items() if not dots and Path(file).as_posix().endswith(ends))
        return next(elsewhere, Helpers())

    def _read(self, file: str) -> Helpers | None:
        try:
            status = Path(file).stat()
            state = (status.st_mtime_ns, status.st_size)
            known = self._on_disk.get(file)
            if known is None or known[0] != state:
                text = Path(file).read_bytes() if status.st_size <= _MOST_BYTES else b""
                known = self._on_disk[file] = state, helpers_of(SourceRegions(text))
        except (OSError, ValueError):
            return None
        return known[1]
