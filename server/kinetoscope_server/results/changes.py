"""Which files of a run have changed on disk since. Looks at a file again only when its time or size has changed."""

from pathlib import Path

from kinetoscope_core.source.placement.fingerprints import file_digest
from kinetoscope_server.results.shown import Shown


class Changes:
    """Remembers the digests of files."""

    def __init__(self) -> None:
        self._known: dict[str, tuple[tuple[int, int], str]] = {}

    def since(self, shown: Shown, path: str) -> list[str]:
        """The names of the files that a result measured, other than `path`, that are not as they were then."""
        return [
            Path(file).name
            for file, fingerprints in shown.fingerprints.items()
            if file != path and fingerprints and self.has_changed(shown, file)
        ]

    def has_changed(self, shown: Shown, file: str) -> bool:
        """Whether a file that a result measured is not as it was then."""
        return self._digest(file) != shown.fingerprints[file][0].file

    def _digest(self, file: str) -> str | None:
        try:
            status = Path(file).stat()
            state = (status.st_mtime_ns, status.st_size)
            known = self._known.get(file)
            if known is None or known[0] != state:
                known = self._known[file] = state, file_digest(Path(file).read_bytes())
        except OSError:
            return None
        return known[1]
