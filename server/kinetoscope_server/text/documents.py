"""The open files: their text under edits, their regions, and places in them as the client counts.

Only files on disk that hold Python count: what has another scheme (a notebook's cell, an unsaved buffer) cannot be run.
"""

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from lsprotocol import types
from pygls.uris import from_fs_path, to_fs_path

from kinetoscope_core.source.modules import ModuleClass, module_classes
from kinetoscope_core.source.regions import (
    Edit,
    Encoding,
    Helpers,
    Import,
    LineEdit,
    Position,
    Range,
    Region,
    SourceRegions,
    helped_statements,
    helpers_of,
    imports_entered,
)
from kinetoscope_core.source.role import Role, role_of
from kinetoscope_server.text.imported_helpers import ImportedHelpers


def path_of(uri: str) -> str | None:
    """The file that the URI names, with symbolic links resolved as a run sees it; None if it names no file."""
    path = to_fs_path(uri)
    return None if path is None or "\0" in path else str(Path(path).resolve())


def uri_of(path: str) -> str:
    return from_fs_path(path) or Path(path).as_uri()


class Document:
    """One open file. `number` counts its changes, and is what computed things are valid for."""

    def __init__(
        self,
        uri: str,
        path: str,
        version: int | None,
        text: str,
        encoding: Encoding,
        imported: Callable[["Document"], Helpers] = lambda _: Helpers(),
    ) -> None:
        self.uri = uri
        self.path = path
        self.version = version
        self.number = 0
        self.source = SourceRegions(text)
        self._encoding: Encoding = encoding
        self._imported = imported
        self._regions: Sequence[Region] | None = None
        self._helped: tuple[Helpers, Sequence[Region]] | None = None
        self._helpers: Helpers | None = None
        self._imports: Sequence[Import] | None = None
        self._module_classes: Sequence[ModuleClass] | None = None
        self._role: Role | None = None

    @property
    def role(self) -> Role:
        """What the file is for, by the text as it now is."""
        if self._role is None:
            self._role = role_of(self.source, self.path)
        return self._role

    @property
    def regions(self) -> Sequence[Region]:
        """The regions of the text as it now is; those whose name nothing is known of included."""
        if self._regions is None:
            self._regions = self.source.regions
        return self._regions

    @property
    def helped(self) -> Sequence[Region]:
        """The lines that seem to enter regions by helpers of the text as it now is, or by those that it imports."""
        imported = self._imported(self)
        if self._helped is None or self._helped[0] != imported:
            self._helped = imported, helped_statements(self.source, imported)
        return self._helped[1]

    @property
    def helpers(self) -> Helpers:
        """The helpers that the text as it now is defines."""
        if self._helpers is None:
            self._helpers = helpers_of(self.source)
        return self._helpers

    @property
    def imports(self) -> Sequence[Import]:
        """What the text as it now is imports and seems to enter."""
        if self._imports is None:
            self._imports = imports_entered(self.source)
        return self._imports

    @property
    def module_classes(self) -> Sequence[ModuleClass]:
        """The classes of modules of the text as it now is."""
        if self._module_classes is None:
            self._module_classes = module_classes(self.source)
        return self._module_classes

    def change(self, changes: Sequence[types.TextDocumentContentChangeEvent], version: int | None) -> None:
        for change in changes:
            if isinstance(change, types.TextDocumentContentChangePartial):
                start, end = change.range.start, change.range.end
                edit = LineEdit((start.line, start.character), (end.line, end.character), change.text)
                self.source.apply([edit], self._encoding)
            else:
                self.source.apply([Edit(0, len(self.source.data), change.text)])
        self.version = version
        self.number += 1
        self._regions = None
        self._helped = None
        self._helpers = None
        self._imports = None
        self._module_classes = None
        self._role = None

    def is_as_on_disk(self) -> bool:
        """Whether the file holds this text; line ends may differ, since editors turn them as they save."""
        try:
            on_disk = Path(self.path).read_bytes()
        except OSError:
            return False
        return _comparable(on_disk) == _comparable(self.source.data)

    def in_client_units(self, place: Range) -> types.Range:
        start, end = self.source.in_units(place, self._encoding)
        return types.Range(types.Position(*start), types.Position(*end))

    def end_of_line(self, row: int) -> types.Position:
        """Where the row (from 0) ends, before its line end."""
        end = Position(row, len(self.line(row)))
        return self.in_client_units(Range(end, end)).start

    def line_range(self, row: int) -> types.Range:
        """The row from its first character that is no blank to its end."""
        text = self.line(row)
        start = len(text) - len(text.lstrip())
        return self.in_client_units(Range(Position(row, start), Position(row, len(text))))

    def line(self, row: int) -> bytes:
        """The text of a row without its line end; empty beyond the end."""
        return self.source.line(row)


def _comparable(text: bytes) -> bytes:
    return text.removeprefix(b"\xef\xbb\xbf").replace(b"\r\n", b"\n").replace(b"\r", b"\n")


class Documents:
    """The open documents by URI."""

    def __init__(self) -> None:
        self.encoding: Encoding = "utf-16"
        self._open: dict[str, Document] = {}
        self._imported = ImportedHelpers()

    def __iter__(self) -> Iterator[Document]:
        return iter(list(self._open.values()))

    def open(self, item: types.TextDocumentItem) -> Document | None:
        path = path_of(item.uri)
        if path is None or item.language_id not in ("python", ""):
            return None
        document = Document(item.uri, path, item.version, item.text, self.encoding, self._helpers_for)
        self._open[item.uri] = document
        return document

    def _helpers_for(self, document: Document) -> Helpers:
        """Those that it imports and enters."""
        imports = document.imports
        if not imports:
            return Helpers()
        opened = {each.path: each.helpers for each in self if each is not document}
        return self._imported.of(document.path, imports, opened)

    def close(self, uri: str) -> Document | None:
        return self._open.pop(uri, None)

    def get(self, uri: str) -> Document | None:
        """The open document, or None for one that was never opened or is none of ours."""
        return self._open.get(uri)

    def of_path(self, path: str) -> list[Document]:
        """The documents that show the file; more than one where a symbolic link is open as well."""
        return [document for document in self._open.values() if document.path == path]
