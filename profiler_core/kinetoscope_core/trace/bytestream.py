"""The bytes of a trace file, plain or gzipped (told by content, not by name), a piece at a time."""

import os
import zlib
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, Final

from kinetoscope_core.errors import TraceError

_GZIP_MAGIC: Final = b"\x1f\x8b"
_GZIP_WINDOW: Final = 31  # zlib: 15 bits of window, and a gzip header
# Damage costs the piece it lies in, so the pieces are small; with 64 kB reading is not measurably faster.
_COMPRESSED_PIECE: Final = 1 << 10


class ByteStream:
    """Reads forward only. `is_cut` and `is_damaged` tell, after the end, why a gzipped file ended early."""

    def __init__(self, file: BinaryIO, path: Path) -> None:
        self.path = path
        self.is_cut = False
        self.is_damaged = False
        self._file = file
        self._ahead = file.read(len(_GZIP_MAGIC))
        self._is_gzip = self._ahead == _GZIP_MAGIC
        self._inflate = zlib.decompressobj(_GZIP_WINDOW)

    def read(self, size: int) -> bytes:
        """Up to `size` bytes; fewer only at the end of the file."""
        try:
            if self._is_gzip:
                return self._read_gzip(size)
            ahead, self._ahead = self._ahead, b""
            return ahead + self._file.read(size - len(ahead))
        except OSError as error:
            raise _trace_error(self.path, error) from error

    @property
    def place(self) -> int | None:
        """How many bytes were read; `None` where it is not possible to go to a place."""
        if self._is_gzip or self._ahead or not self._file.seekable():  # a pipe is read once, from its beginning
            return None
        return self._file.tell()

    @property
    def size(self) -> int:
        """Bytes of the file."""
        return os.fstat(self._file.fileno()).st_size

    def go_to(self, place: int) -> None:
        """Goes on reading there."""
        self._file.seek(place)

    def _read_gzip(self, size: int) -> bytes:
        pieces: list[bytes] = []
        missing = size
        while missing > 0 and not self.is_cut and not self.is_damaged:
            if self._inflate.eof:
                following = self._inflate.unused_data or self._file.read(_COMPRESSED_PIECE)
                if not following.startswith(_GZIP_MAGIC):  # the end, or padding
                    break
                self._inflate = zlib.decompressobj(_GZIP_WINDOW)
                self._ahead = following
            piece = self._inflate.unconsumed_tail
            if not piece:
                piece, self._ahead = self._ahead + self._file.read(_COMPRESSED_PIECE), b""
            if not piece:
                self.is_cut = True
                break
            try:
                text = self._inflate.decompress(piece, missing)
            except zlib.error:
                self.is_damaged = True
                break
            pieces.append(text)
            missing -= len(text)
        return b"".join(pieces)


@contextmanager
def opened(path: Path) -> Generator[ByteStream]:
    """The file's bytes. Raises TraceError where it cannot be opened or is empty."""
    try:
        file = path.open("rb")
    except OSError as error:
        raise _trace_error(path, error) from error
    with file:
        try:
            stream = ByteStream(file, path)
        except OSError as error:
            raise _trace_error(path, error) from error
        yield stream


def _trace_error(path: Path, error: OSError) -> TraceError:
    if isinstance(error, FileNotFoundError):
        return TraceError(f"There is no file {path}. Check the path of the trace.")
    if isinstance(error, IsADirectoryError):
        return TraceError(f"{path} is a directory. Give the trace file in it (*.json or *.json.gz).")
    if isinstance(error, PermissionError):
        return TraceError(f"No permission to read {path}. Change its permissions or copy it to where you may read it.")
    return TraceError(f"{path} cannot be read: {error.strerror or error}.")
