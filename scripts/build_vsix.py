"""Builds the VS Code extension for one platform, server and libraries inside: dist/kinetoscope-TARGET-VERSION.vsix.

    python scripts/build_vsix.py [TARGET]     TARGET as VS Code names it; this machine's by default

Needs Node 20 or newer and the packages of package-lock.json (`npm ci`).
"""

import argparse
import json
import re
import shutil
import subprocess
import sys

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
    _npm("npm", "run", "--silent", "build")
    vsix = ROOT / "dist" / f"kinetoscope-{target}-{version}.vsix"
    vsix.parent.mkdir(exist_ok=True)
    # The README of the repository has links and pictures, which would need an address on the web.
    options = ["--no-dependencies", "--allow-missing-repository", "--readme-path", "extension/README.md"]
    _npm("npx", "--no-install", "vsce", "package", *options, "--target", target, "--out", str(vsix))


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


def _npm(program: str, *arguments: str) -> None:
    path = shutil.which(program)  # on Windows a .cmd file, which must be named in full
    if path is None:
        sys.exit(f"There is no {program} here. It comes with Node: https://nodejs.org")
    if subprocess.run([path, *arguments], cwd=ROOT, check=False).returncode != 0:
        sys.exit(f"{program} {' '.join(arguments)} failed, see above.")


if __name__ == "__main__":
    main()
