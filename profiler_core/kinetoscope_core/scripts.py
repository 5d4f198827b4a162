"""Whether a file can be run as a Python script, and what to do with one that cannot. Reads it; runs nothing."""

import ast
import warnings
import zipfile
from pathlib import Path

from kinetoscope_core.errors import UsageError
from kinetoscope_core.text import printable

_SOURCES = (".py", ".pyw")
_BEGINNING = 4096
_ENDS_OF_DATA = (".json", ".jsonl", ".csv", ".md", ".yaml", ".yml", ".toml", ".cfg", ".ini", ".gz", ".pt", ".pth")


def check_script(path: Path) -> None:
    """Raises `UsageError` for a file that is no Python; what only looks broken is left to Python to say.

    A script may have any name, and a shell's first line be followed by Python (as pip's long ones are): such a file
    counts if it reads as Python. A file called `.py` always does, and so does a folder or zip file, which is Python's
    own affair.
    """
    name = printable(path.name)
    if path.suffix == ".ipynb":
        raise UsageError(
            f"{name} is a notebook, which Python cannot run. Make a script of it, then profile that:"
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
            f"{name} is a program or data, no Python source. Name the Python file to run, or a module with -m."
        )
    first = beginning.split(b"\n", 1)[0].decode("utf-8", "replace").strip()
    shell = first if first.startswith("#!") and "python" not in first else ""
    is_doubtful = bool(shell) or path.suffix in (*_ENDS_OF_DATA, ".sh", ".bash", ".zsh", ".bat", ".ps1")
    if not is_doubtful or (path.suffix not in _ENDS_OF_DATA and _reads_as_python(path)):
        return
    if path.suffix in _ENDS_OF_DATA:
        raise UsageError(f"{name} is data, not a Python script. Name the Python file to run, or a module with -m.")
    why = f" (its first line is {printable(shell)})" if shell else ""
    raise UsageError(
        f"{name} is a shell script{why}, not Python. Name the Python file that it starts, with the arguments that it"
        " gives: kinetoscope profile SCRIPT -- ARGUMENTS"
    )


def _reads_as_python(path: Path) -> bool:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            ast.parse(path.read_bytes())
        except (SyntaxError, ValueError, RecursionError, MemoryError, OSError):
            return False
    return True
