"""Whether a file can be run as a Python script, and what to do with one that cannot. Reads it; runs nothing."""

import re
import zipfile
from pathlib import Path

from kinetoscope_core.errors import UsageError
from kinetoscope_core.text import printable

_BEGINNING = 4096
_SOURCES = (".py", ".pyw")
_DATA = (".json", ".jsonl", ".csv", ".md", ".yaml", ".yml", ".toml", ".cfg", ".ini", ".gz", ".pt", ".pth")
_SHELL_FILES = (".sh", ".bash", ".zsh", ".fish", ".bat", ".cmd", ".ps1")
_OTHERS = frozenset({"sh", "bash", "zsh", "dash", "ksh", "fish", "csh", "tcsh", "perl", "ruby", "node"})
_HANDED_ON = re.compile(rb"\n\s*['\"]{1,3}:?\s*exec\b")


def check_script(path: Path) -> None:
    """Raises `UsageError` for a file that is no Python; what only looks broken is left to Python to say.

    A script may have any name, and a shell's first line may have Python below it that a quoted `exec` hands the file to
    (pip writes such where the interpreter's path is long). What is called `.py`, folders and zip files are Python's own
    affair.
    """
    name = printable(path.name)
    if path.suffix == ".ipynb":
        raise UsageError(
            f"{name} is a notebook, which Python cannot run. Convert it to a script and profile that:"
            f" jupyter nbconvert --to script {name}"
        )
    if path.is_dir() or path.suffix in _SOURCES or zipfile.is_zipfile(path):
        return
    try:
        with path.open("rb") as file:
            beginning = file.read(_BEGINNING)
    except OSError:
        return  # Python says why it cannot be read
    if b"\0" in beginning:
        raise UsageError(
            f"{name} is a program or data, not Python source. Name the Python file to run, or a module with -m."
        )
    if path.suffix in _DATA:
        raise UsageError(f"{name} is data, not a Python script. Name the Python file to run, or a module with -m.")
    first = beginning.split(b"\n", 1)[0].decode("utf-8", "replace").strip()
    starts = {word.rpartition("/")[2] for word in first[2:].split()} if first.startswith("#!") else set[str]()
    is_shell = not _OTHERS.isdisjoint(starts) if starts else path.suffix in _SHELL_FILES
    if not is_shell or _HANDED_ON.search(beginning):
        return
    why = f" (its first line is {printable(first)})" if starts else ""
    raise UsageError(
        f"{name} is a shell script{why}, not Python. In a terminal, put it after --, as in"
        f" kinetoscope profile -- bash {name}, or name the Python file that it starts."
    )
