"""Starts the language server from the folder that this file lies in: `python -I serve.py`.

`scripts/bundle.py` puts it beside the server and its libraries. An old Python can read it, too, and says what is
wrong. Isolated (`-I`), Python imports nothing that lies in the working directory or that PYTHONPATH names.
"""

import json
import sys
from pathlib import Path

FOLDER = Path(__file__).absolute().parent
REFUSED = 2


def main() -> int:
    """The server's exit code, or `REFUSED` if this Python cannot run it."""
    bundled = json.loads((FOLDER / "bundled.json").read_text(encoding="utf-8"))
    libraries = f"libraries for {bundled['target']} and CPython {', '.join(bundled['minors'])}"
    major, minor, micro = sys.version_info[:3]
    if f"{major}.{minor}" not in bundled["minors"]:
        return refuse(f"is Python {major}.{minor}.{micro}, and Kinetoscope carries {libraries}")
    sys.path.insert(0, str(FOLDER))
    try:
        from kinetoscope_server.__main__ import main as serve
    except ImportError as error:  # another implementation, processor or C library, or a Python without the GIL
        return refuse(f"cannot load what Kinetoscope carries, {libraries}: {error}")
    return serve()


def refuse(why: str) -> int:
    """Says it in one line on stderr."""
    sys.stderr.write(f"kinetoscope: {sys.executable} {why}. Choose another interpreter.\n")
    return REFUSED


if __name__ == "__main__":
    sys.exit(main())
