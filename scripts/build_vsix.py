"""Builds the VS Code extension for one platform, server and libraries inside: dist/kinetoscope-TARGET-VERSION.vsix.

    python scripts/build_vsix.py [TARGET]     TARGET as VS Code names it; this machine's by default

Needs Node 20 or newer and the packages of package-lock.json (`npm ci`).
"""

import argparse
import base64
import json
import re
import shutil
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from bundle import BUNDLED, PACKAGES, ROOT, TARGETS, bundle, this_machine


def main() -> None:
    """Builds what the command line asks for."""
    parser = argparse.ArgumentParser(description="Builds the VS Code extension for one platform.")
    parser.add_argument("target", nargs="?", choices=TARGETS, help="the platform (default: this machine's)")
    target = parser.parse_args().target or this_machine()
    version = _version()
    if not (ROOT / "node_modules" / ".package-lock.json").exists():
        sys.exit("The packages of package-lock.json are not installed: npm ci")
    bundle(target, BUNDLED)
    _run(ROOT, "npm", "run", "--silent", "build")
    vsix = ROOT / "dist" / f"kinetoscope-{target}-{version}.vsix"
    vsix.parent.mkdir(exist_ok=True)
    # The README of the repository has links and pictures, which would need an address on the web. vsce would refuse
    # pictures without one, where it looks at links.
    options = ["--no-dependencies", "--allow-missing-repository", "--no-rewrite-relative-links"]
    options += ["--readme-path", "extension/README.md"]
    with TemporaryDirectory() as folder:
        # Alone: of all that lies in the repository, vsce compares each file with each pattern, which took 31 s.
        _copy_packed(Path(folder))
        _put_pictures_into(Path(folder, "extension", "README.md"))
        vsce = ROOT / "node_modules" / "@vscode" / "vsce" / "vsce"
        _run(Path(folder), "node", str(vsce), "package", *options, "--target", target, "--out", str(vsix))


def _copy_packed(folder: Path) -> None:
    """Copies what .vscodeignore lets in, and that list."""
    shutil.copy(ROOT / ".vscodeignore", folder)
    for line in (ROOT / ".vscodeignore").read_text(encoding="utf-8").splitlines():
        if line.startswith("!"):
            name = line.removeprefix("!").removesuffix("/**")
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (shutil.copytree if (ROOT / name).is_dir() else shutil.copy)(ROOT / name, folder / name)


def _put_pictures_into(readme: Path) -> None:
    """As data: VS Code's page of an extension shows pictures from the web and of this kind, and no files."""

    def as_data(found: re.Match[str]) -> str:
        picture = base64.b64encode((ROOT / "extension" / found["path"]).read_bytes()).decode()
        return f"![{found['text']}](data:image/png;base64,{picture})"

    text = readme.read_text(encoding="utf-8")
    text = re.sub(r"!\[(?P<text>[^]]*)\]\((?P<path>[^)]+\.png)\)", as_data, text)
    readme.write_text(text, encoding="utf-8")


def _version() -> str:
    """The version of the core, if package.json has the same."""
    source = (PACKAGES[0] / "__init__.py").read_text(encoding="utf-8")
    (version,) = re.findall(r'^__version__ = "(.+)"$', source, flags=re.MULTILINE)
    manifest = json.loads((ROOT / "package.json").read_text(encoding="utf-8"))
    if manifest["version"] != version:
        sys.exit(
            f"package.json has version {manifest['version']}, and kinetoscope_core/__init__.py {version}. "
            "Write that of the core into package.json."
        )
    return version


def _run(folder: Path, program: str, *arguments: str) -> None:
    path = shutil.which(program)  # npm is on Windows a .cmd file, which must be named in full
    if path is None:
        sys.exit(f"There is no {program} here. It comes with Node: https://nodejs.org")
    if subprocess.run([path, *arguments], cwd=folder, check=False).returncode != 0:
        sys.exit(f"{program} {' '.join(arguments)} failed, see above.")


if __name__ == "__main__":
    main()
