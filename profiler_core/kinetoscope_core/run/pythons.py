"""The Pythons of this machine and their torch, as files tell of them: none of them is started to find it out.

Sources: PEP 405 (pyvenv.cfg), conda's `conda-meta` and `environments.txt`, the folders of pyenv and uv, and
`torch/version.py`, which torch's build writes.
"""

import json
import os
import re
import shutil
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Final

_CONDA_FOLDERS: Final = ("miniconda3", "anaconda3", "miniforge3", "mambaforge", "micromamba", ".conda")
_FOLDER_OF_VERSION: Final = re.compile(r"(?:cpython-)?(\d\.\d+(?:\.\d+)?)(?:-.*)?")
_ASSIGNED: Final = re.compile(r"^(\w+)\s*(?::[^=\n]*)?=\s*(?:['\"]([^'\"\n]*)['\"]|None\b)", re.MULTILINE)
_LONGEST_FILE: Final = 100_000
_OLDEST: Final = (3, 9)
"""Of Pythons that scripts can run in, as the runner's."""


@dataclass(frozen=True, slots=True)
class Torch:
    """A torch that is installed. None where the files do not tell: `version`, and what it was `built_for`, "CUDA 13.0",
    "ROCm 6.2", "XPU" or "CPU".
    """

    version: str | None
    built_for: str | None

    @property
    def text(self) -> str:
        """For people."""
        built_for = {None: "CUDA not known", "CPU": "built without CUDA"}
        return f"torch {self.version or '(version not known)'}, {built_for.get(self.built_for, self.built_for)}"


@dataclass(frozen=True, slots=True)
class Python:
    """One at `path`; `where` says for people what names it. `version` is as exact as the files tell, "3.12.4" or
    "3.12". `has_torch` is None where it is not known, as of a wrapper that starts another Python.
    """

    path: str
    where: str
    version: str | None
    has_torch: bool | None
    torch: Torch | None

    @property
    def text(self) -> str:
        """What is known of it, for people."""
        torch = self.torch.text if self.torch else "no torch" if self.has_torch is False else "torch not known"
        return f"Python {self.version or '(version not known)'} · {torch}"

    def as_values(self) -> dict[str, Any]:
        """As `kinetoscope/interpreters` has it."""
        return {"path": self.path, "where": self.where, "text": self.text, "has_torch": self.has_torch}


def python_at(path: str, where: str = "") -> Python:
    """What the files around an interpreter tell of it."""
    at = _Place(Path(path))
    found = next(filter(None, map(_torch_in, at.libraries)), None)
    is_known = any(_is_dir(each) for each in at.libraries)
    return Python(path, where, at.version, True if found else False if is_known else None, found)


def pythons(root: Path | None, named: Iterable[tuple[str, str]] = ()) -> list[Python]:
    """Those with torch first, else in the order of looking: those at the top of the workspace's folder `root`, active
    ones, conda's, pyenv's, uv's, the one on PATH, `named` ones, with what names them, and our own. Those that are too
    old are left out.
    """
    found: dict[tuple[str, str], Python] = {}
    own = sys.executable, "the Python that Kinetoscope runs in"
    for path, where in [*_in_prefixes(_of_workspace(root)), *_elsewhere(), *_there(named), own]:
        identity = os.path.realpath(Path(path).parent), os.path.realpath(path)
        if identity not in found:
            found[identity] = python_at(path, where)
    new_enough = (each for each in found.values() if not _is_too_old(each))
    return sorted(new_enough, key=lambda each: (True, None, False).index(each.has_torch))


def _is_too_old(python: Python) -> bool:
    return python.version is not None and tuple(map(int, re.findall(r"\d+", python.version)[:2])) < _OLDEST


def python_in(prefix: Path) -> str | None:
    """The interpreter of an environment; conda's stands in its top folder on Windows."""
    for folder in ("Scripts", ".") if os.name == "nt" else ("bin",):
        for name in ("python", "python3"):
            found = shutil.which(name, path=str(prefix / folder))
            if found:
                return str(Path(found).absolute())
    return None


# --- where they are


def _there(named: Iterable[tuple[str, str]]) -> Iterator[tuple[str, str]]:
    for path, where in named:
        found = shutil.which(path)
        if found:
            yield str(Path(found).absolute()), where


def _in_prefixes(prefixes: Iterable[tuple[Path, str]]) -> Iterator[tuple[str, str]]:
    for prefix, where in prefixes:
        found = python_in(prefix)
        if found:
            yield found, where


def _of_workspace(root: Path | None) -> Iterator[tuple[Path, str]]:
    for folder in [] if root is None else _folders_in(root):
        if _is_file(folder / "pyvenv.cfg") or _is_dir(folder / "conda-meta"):
            yield folder, f"{folder.name} of the workspace"


def _elsewhere() -> Iterator[tuple[str, str]]:
    home = Path.home()
    yield from _in_prefixes(
        (Path(prefix), f"active, ${name}")
        for name in ("VIRTUAL_ENV", "CONDA_PREFIX")
        if (prefix := os.environ.get(name))
    )
    yield from _in_prefixes((each, _name_in_conda(each)) for each in _conda_prefixes(home))
    pyenv = Path(os.environ.get("PYENV_ROOT") or home / ".pyenv") / "versions"
    yield from _in_prefixes((each, f"pyenv {each.name}") for each in _folders_in(pyenv))
    yield from _in_prefixes((each, "uv") for each in _folders_in(_uv_folder(home)))
    yield from [*_there((name, f"{name} on PATH") for name in ("python3", "python"))][:1]


def _conda_prefixes(home: Path) -> Iterator[Path]:
    for line in _text_of(home / ".conda" / "environments.txt").splitlines():
        if line.strip():
            yield Path(line.strip())
    active = os.environ.get("CONDA_PREFIX")
    roots = [home / name for name in _CONDA_FOLDERS] + [Path("/opt") / name for name in ("conda", *_CONDA_FOLDERS)]
    for root in [*roots, *([Path(active), *Path(active).parents[1:2]] if active else [])]:
        yield from [root] if _is_dir(root / "conda-meta") else []
        yield from (each for each in _folders_in(root / "envs") if _is_dir(each / "conda-meta"))


def _name_in_conda(prefix: Path) -> str:
    return f"conda environment {prefix.name if prefix.parent.name == 'envs' else 'base'}"


def _uv_folder(home: Path) -> Path:
    named, data = os.environ.get("UV_PYTHON_INSTALL_DIR"), os.environ.get("XDG_DATA_HOME")
    if os.name == "nt":
        return Path(named or Path(os.environ.get("APPDATA") or home) / "uv" / "python")
    return Path(named or Path(data or home / ".local" / "share") / "uv" / "python")


def _folders_in(folder: Path) -> list[Path]:
    with suppress(OSError):
        return sorted(each for each in folder.iterdir() if _is_dir(each))
    return []


# --- what is in them


class _Place:
    """Where an interpreter stands, and where its packages do."""

    def __init__(self, path: Path) -> None:
        self._real = Path(os.path.realpath(path))
        folders = [path.parent, path.parent.parent]
        self._venv = next((each for each in folders if _is_file(each / "pyvenv.cfg")), None)
        conda = next((each for each in folders if _is_dir(each / "conda-meta")), None)
        self._prefix = self._venv or conda or self._real.parent.parent

    @cached_property
    def _configured(self) -> Mapping[str, str]:
        """Of pyvenv.cfg."""
        lines = _text_of(self._venv / "pyvenv.cfg").splitlines() if self._venv else []
        pairs = (line.partition("=") for line in lines)
        return {name.strip().lower(): value.strip() for name, _, value in pairs}

    @cached_property
    def version(self) -> str | None:
        if self._venv:
            told = self._configured.get("version") or self._configured.get("version_info") or ""
            return ".".join(told.split(".")[:3]) or None
        for file in _matching(self._prefix / "conda-meta", "python-3.*.json"):
            return file.name.split("-")[1]
        named = _FOLDER_OF_VERSION.fullmatch(self._prefix.name)
        if named:
            return named[1]
        if self._real.name.startswith("python3."):
            return self._real.name.removeprefix("python").removesuffix(".exe")
        minors = _matching(self._prefix / "lib", "python3.*")
        return minors[0].name.removeprefix("python") if len(minors) == 1 else None

    @cached_property
    def libraries(self) -> Sequence[Path]:
        """The folders that packages are imported from, some of which may not be there."""
        named = [Path(each) for each in os.environ.get("PYTHONPATH", "").split(os.pathsep) if each]
        own = [each for library in self._own_libraries() for each in (library, *_added_by_pth(library))]
        return [*(each for each in named if _is_dir(each / "torch")), *own]

    def _own_libraries(self) -> Iterator[Path]:
        minor = ".".join((self.version or "").split(".")[:2])
        if minor:
            yield from (self._prefix / lib / f"python{minor}" / "site-packages" for lib in ("lib", "lib64"))
        yield self._prefix / "Lib" / "site-packages"
        if self._venv is None:
            yield self._prefix / "lib" / "python3" / "dist-packages"
            yield self._prefix / "local" / "lib" / f"python{minor}" / "dist-packages"
            yield Path.home() / ".local" / "lib" / f"python{minor}" / "site-packages"
        elif self._configured.get("include-system-site-packages") == "true" and self._configured.get("home"):
            base = _Place(Path(self._configured["home"]) / self._real.name)
            yield from base.libraries if base._venv is None else ()  # else it may be its own base


def _added_by_pth(library: Path) -> Iterator[Path]:
    for file in _matching(library, "*.pth"):
        lines = (line.strip() for line in _text_of(file).splitlines())
        yield from (library / line for line in lines if line and not line.startswith(("#", "import ", "import\t")))


def _torch_in(library: Path) -> Torch | None:
    """As its version.py says, else the name of the folder that pip keeps of it."""
    folder = library / "torch"
    told = dict(_ASSIGNED.findall(_text_of(folder / "version.py")))
    if told.get("__version__"):
        return Torch(told["__version__"], _built_for(told))
    kept = next(iter(_matching(library, "torch-*.dist-info")), None)
    if kept is None and not _is_file(folder / "__init__.py"):
        return None
    return Torch(kept and kept.name.removeprefix("torch-").removesuffix(".dist-info"), None)


def _built_for(told: Mapping[str, str]) -> str | None:
    """`told` has an empty text for a None of version.py."""
    for name, kind in {"cuda": "CUDA", "hip": "ROCm", "xpu": "XPU"}.items():
        if told.get(name):
            return "XPU" if name == "xpu" else f"{kind} {told[name]}"
    return "CPU" if "cuda" in told else None


# Folders that one may not look into, and names that are too long, are as if they were not there.


def _matching(folder: Path, pattern: str) -> list[Path]:
    with suppress(OSError):
        return sorted(folder.glob(pattern))
    return []


def _is_file(path: Path) -> bool:
    with suppress(OSError):
        return path.is_file()
    return False


def _is_dir(path: Path) -> bool:
    with suppress(OSError):
        return path.is_dir()
    return False


def _text_of(path: Path) -> str:
    """Empty where it cannot be read."""
    with suppress(OSError), path.open(encoding="utf-8", errors="replace") as file:
        return file.read(_LONGEST_FILE)
    return ""


if __name__ == "__main__":
    # For an editor that has no Python to start the server in: any other one says what there is.
    workspace = Path(sys.argv[1]) if len(sys.argv) > 1 else None
    sys.stdout.write(json.dumps([each.as_values() for each in pythons(workspace)]))
