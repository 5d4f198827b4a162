"""Makes the folder that the VS Code extension starts its language server from: server, core and libraries in one.

    python scripts/bundle.py [TARGET] [--into FOLDER]     TARGET as VS Code names it; this machine's by default
    python scripts/bundle.py --pin                        renews the hashes after versions were changed

Libraries with compiled parts are there once for each CPython minor, side by side: their file names carry the ABI. Which
wheels, to the hash, stands in extension/bundled-requirements.txt; they are kept in build/wheels.
"""

import argparse
import hashlib
import json
import platform
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterable
from pathlib import Path
from zipfile import ZipFile

ROOT = Path(__file__).parents[1]
REQUIREMENTS = ROOT / "extension" / "bundled-requirements.txt"
BUNDLED = ROOT / "extension" / "bundled"
CACHE = ROOT / "build" / "wheels"
PACKAGES = (ROOT / "profiler_core" / "kinetoscope_core", ROOT / "server" / "kinetoscope_server")
PAGES = ROOT / "docs" / "findings"

MINORS = ("3.10", "3.11", "3.12", "3.13", "3.14")
TARGETS = {
    "linux-x64": ("manylinux_2_28_x86_64", "manylinux_2_17_x86_64", "manylinux2014_x86_64"),
    "linux-arm64": ("manylinux_2_28_aarch64", "manylinux_2_17_aarch64", "manylinux2014_aarch64"),
    "darwin-x64": ("macosx_11_0_x86_64",),
    "darwin-arm64": ("macosx_11_0_arm64",),
    "win32-x64": ("win_amd64",),
}
"""The platforms of the wheels for each target. VS Code itself needs glibc 2.28 and macOS 11."""

_SYSTEMS = {"Linux": "linux", "Darwin": "darwin", "Windows": "win32"}
_PROCESSORS = {"x86_64": "x64", "AMD64": "x64", "aarch64": "arm64", "arm64": "arm64"}


def this_machine() -> str:
    """The target that runs here."""
    system, processor = platform.system(), platform.machine()
    target = f"{_SYSTEMS.get(system)}-{_PROCESSORS.get(processor)}"
    if target not in TARGETS:
        sys.exit(f"There is no target for {system} on {processor}. Name one of {', '.join(TARGETS)}.")
    return target


def bundle(target: str, folder: Path) -> None:
    """Makes the folder anew for that target. Downloads what is not in build/wheels."""
    wheels = _wheels(target)
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    for wheel in wheels:
        _unpack(wheel, folder)
    for package in PACKAGES:
        shutil.copytree(package, folder / package.name, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copytree(PAGES, folder / "kinetoscope_core" / "pages", ignore=shutil.ignore_patterns("README.md"))
    shutil.copy(ROOT / "extension" / "serve.py", folder)
    about = {"target": target, "minors": MINORS}
    (folder / "bundled.json").write_text(json.dumps(about) + "\n", encoding="utf-8")


def _wheels(target: str) -> list[Path]:
    """The wheels of REQUIREMENTS for that target and all minors."""
    pins = hashlib.sha256(REQUIREMENTS.read_bytes()).hexdigest()[:16]
    kept = CACHE / f"{target}-{pins}"
    if not kept.is_dir():
        CACHE.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=CACHE) as temporary:
            downloaded = Path(temporary) / "wheels"
            _download(target, REQUIREMENTS, downloaded, "--require-hashes")
            if not kept.is_dir():  # another process may have been faster
                downloaded.rename(kept)
    return sorted(kept.iterdir())


def _download(target: str, requirements: Path, folder: Path, *options: str) -> None:
    platforms = [f"--platform={name}" for name in TARGETS[target]]
    for minor in MINORS:
        command = [sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check"]
        command += ["--no-deps", "--only-binary=:all:", *options, "--requirement", str(requirements)]
        command += ["--dest", str(folder), *platforms, f"--python-version={minor}", "--implementation=cp"]
        command += [f"--abi=cp{minor.replace('.', '')}", "--abi=abi3", "--abi=none"]
        if subprocess.run(command, check=False).returncode != 0:
            sys.exit(f"The wheels for {target} and Python {minor} could not be downloaded; pip's message says why.")


def _unpack(wheel: Path, folder: Path) -> None:
    with ZipFile(wheel) as archive:
        for name in archive.namelist():
            if name.endswith("/") or not _is_needed(name):
                continue
            content = archive.read(name)
            path = folder / name
            if path.exists() and path.read_bytes() != content:
                sys.exit(f"{wheel.name} has another {name} than the wheel for another Python: they need a folder each.")
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)


def _is_needed(name: str) -> bool:
    top, _, rest = name.partition("/")
    if top.endswith(".dist-info"):  # for importlib.metadata, and for those who want to know whose work this is
        return rest == "METADATA" or rest.startswith("licenses/")
    if top.endswith(".data"):
        sys.exit(f"{name} wants to be installed elsewhere than beside its package; scripts/bundle.py cannot do that.")
    return name.endswith((".py", ".so", ".pyd"))


def pin() -> None:
    """Writes REQUIREMENTS again: the versions that it names, the hashes of the wheels that there are for them."""
    text = REQUIREMENTS.read_text(encoding="utf-8")
    comment = "".join(line for line in text.splitlines(keepends=True) if line.startswith("#"))
    versions = re.findall(r"^\S+==\S+", text, flags=re.MULTILINE)
    with tempfile.TemporaryDirectory() as temporary:
        unpinned = Path(temporary) / "requirements.txt"
        unpinned.write_text("\n".join(versions), encoding="utf-8")
        folder = Path(temporary) / "wheels"
        for target in TARGETS:
            print(f"downloading for {target}")
            _download(target, unpinned, folder)
        wheels = sorted(folder.iterdir())
        lines = [_pinned(version, wheels) for version in sorted(versions)]
    REQUIREMENTS.write_text(comment + "\n".join(lines) + "\n", encoding="utf-8")
    print(f"{REQUIREMENTS}: {len(lines)} packages, {len(wheels)} wheels")


def _pinned(version: str, wheels: Iterable[Path]) -> str:
    start = version.replace("-", "_").replace("==", "-") + "-"
    hashes = {hashlib.sha256(wheel.read_bytes()).hexdigest() for wheel in wheels if wheel.name.startswith(start)}
    return " \\\n    ".join([version, *(f"--hash=sha256:{each}" for each in sorted(hashes))])


def main() -> None:
    """Carries out what the command line asks for."""
    parser = argparse.ArgumentParser(description="Makes the folder that the VS Code extension starts its server from.")
    parser.add_argument("target", nargs="?", choices=TARGETS, help="the platform (default: this machine's)")
    parser.add_argument("--into", metavar="FOLDER", type=Path, default=BUNDLED, help="default: extension/bundled")
    parser.add_argument("--pin", action="store_true", help="renew the hashes of extension/bundled-requirements.txt")
    options = parser.parse_args()
    if options.pin:
        pin()
        return
    target = options.target or this_machine()
    bundle(target, options.into)
    print(f"{options.into}: server and libraries for {target}, CPython {', '.join(MINORS)}")


if __name__ == "__main__":
    main()
