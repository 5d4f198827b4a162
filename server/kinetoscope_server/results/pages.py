"""Pages that are shown as files: they lie in the cache folder, never in the workspace."""

from pathlib import Path

from kinetoscope_core.results.store import Store


def written(text: str, name: str) -> Path:
    """The file of that name, with this text."""
    folder = Store().root / "details"
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    page = folder / name
    page.write_text(text, encoding="utf-8", errors="backslashreplace")
    return page
