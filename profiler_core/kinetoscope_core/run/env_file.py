"""Variables of a file like `.env`, as the Python extension of VS Code takes them for a run."""

import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from kinetoscope_core.errors import UsageError
from kinetoscope_core.runner.request import RunRequest

_LINE: Final = re.compile(r"\s*(?:export\s+)?([A-Za-z_]\w*)\s*=\s*(.*?)\s*")
_QUOTED: Final = re.compile(r"""(["'])(.*)\1(?:\s*#.*)?""")
_COMMENT: Final = re.compile(r"(?:^|\s+)#.*")
_NAMED: Final = re.compile(r"(?<!\\)\$\{([A-Za-z_]\w*)\}")
_PATHS: Final = ("PATH", "PYTHONPATH")


def variables_of(request: RunRequest) -> dict[str, str]:
    """All that is added to our own variables for a run. A file that is not there adds none. Raises `UsageError`."""
    of_file: dict[str, str] = {}
    if request.env_file is not None:
        try:
            of_file = read_env_file(Path(request.env_file), os.environ)
        except FileNotFoundError:
            pass
        except OSError as error:
            raise UsageError(f"{request.env_file} cannot be read ({error.strerror}); the run would lack it.") from error
    return {**of_file, **request.environment}


def read_env_file(path: Path, base: Mapping[str, str]) -> dict[str, str]:
    """The variables of its lines NAME=VALUE, in their order; other lines say nothing. Raises `OSError`.

    `${NAME}` stands for a variable above, else for one of `base`, else for nothing, but not in single quotes. In double
    quotes a backslash and n are a new line. What `base` has in PATH and PYTHONPATH comes after what the file has there.
    """
    found: dict[str, str] = {}
    for line in path.read_text(encoding="utf-8-sig", errors="surrogateescape").splitlines():
        match = _LINE.fullmatch(line)
        if match:
            found[match[1]] = _value(match[2], {**base, **found})
    for name in _PATHS:
        if found.get(name) and base.get(name):
            found[name] += os.pathsep + base[name]
    return {name: value for name, value in found.items() if "\0" not in value}


def _value(text: str, known: Mapping[str, str]) -> str:
    quoted = _QUOTED.fullmatch(text)
    if quoted and quoted[1] == "'":
        return quoted[2]
    text = quoted[2].replace("\\n", "\n") if quoted else _COMMENT.sub("", text)
    return _NAMED.sub(lambda match: known.get(match[1], ""), text).replace("\\$", "$")
