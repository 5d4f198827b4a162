"""Says whether a VSIX holds what the extension needs on its platform, and nothing else.

Usage: python .ci/check_vsix.py dist/kinetoscope-*.vsix
"""

import json
import re
import struct
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[1]
LARGEST_BYTES = 8_000_000

PREFIX = "extension/"  # of all that is the extension's inside of a VSIX
BUNDLED = PREFIX + "extension/bundled/"
FILES = {"package.json", "readme.md", "changelog.md", "LICENSE.txt", "examples/matmul_add.py", "extension/icon.png"}
FILES |= {"docs/images/editor-dark.png", "docs/images/details-light.png"}  # of the walkthrough
BUILT = {f"extension/dist/{name}" for name in ("extension.js", "details.js", "details.css", "third-party-licences.txt")}
TRACKED = {  # folders of the repository, and where they are
    "extension/walkthrough/": PREFIX + "extension/walkthrough/",
    "profiler_core/kinetoscope_core/": BUNDLED + "kinetoscope_core/",
    "server/kinetoscope_server/": BUNDLED + "kinetoscope_server/",
    "docs/findings/": BUNDLED + "kinetoscope_core/pages/",
}
LIBRARIES = (
    "attr attrs cattr cattrs exceptiongroup lsprotocol msgspec orjson platformdirs pygls tree_sitter "
    "tree_sitter_python typing_extensions.py"
)
ABIS = ("310", "311", "312", "313", "314")
ENDINGS = {  # of compiled modules for one CPython, and for all
    "linux-x64": ("cpython-{}-x86_64-linux-gnu.so", "abi3.so"),
    "linux-arm64": ("cpython-{}-aarch64-linux-gnu.so", "abi3.so"),
    "darwin-x64": ("cpython-{}-darwin.so", "abi3.so"),
    "darwin-arm64": ("cpython-{}-darwin.so", "abi3.so"),
    "win32-x64": ("cp{}-win_amd64.pyd", "pyd"),
}
SECRETS = rb"-----BEGIN [A-Z ]*PRIVATE KEY|_authToken|\b(?:ghp|gho|npm|pypi)_[A-Za-z0-9]{30}|\bAKIA[A-Z0-9]{16}\b"


def problems_of(path: Path) -> Iterator[str]:
    """What is wrong with it, a line each."""
    if path.stat().st_size > LARGEST_BYTES:
        yield f"it is {path.stat().st_size:,} bytes large, more than {LARGEST_BYTES:,}"
    with zipfile.ZipFile(path) as archive:
        content = {name: archive.read(name) for name in archive.namelist()}
    about = json.loads(content[BUNDLED + "bundled.json"])
    target = about["target"]
    if about["minors"] != [f"3.{abi[1:]}" for abi in ABIS]:
        yield f"bundled.json names the minors {about['minors']}"
    yield from _manifests(content, target, path.name)
    yield from _list(content, target)
    if re.search(rb"!\[[^]]*\]\((?!data:image/png;base64,)", content[PREFIX + "readme.md"]):
        yield "readme.md has a picture that VS Code's page of the extension does not show: it must be data"
    for name, data in content.items():
        yield from _insides(name, data, content)
        if name.endswith((".so", ".pyd")) and target.partition("-")[2] not in _processors(data):
            yield f"{name} is for {_processors(data) or 'no processor that is known'}, not for {target}"


def _manifests(content: dict[str, bytes], target: str, file_name: str) -> Iterator[str]:
    identity = re.search(rb"<Identity [^>]*>", content["extension.vsixmanifest"])
    if identity is None or f'TargetPlatform="{target}"'.encode() not in identity[0]:
        yield f"its manifest is for another platform than bundled.json: {target}"
    manifest = json.loads(content[PREFIX + "package.json"])
    core = content[BUNDLED + "kinetoscope_core/__init__.py"].decode()
    version = manifest["version"]
    if f'__version__ = "{version}"' not in core or file_name != f"kinetoscope-{target}-{version}.vsix":
        yield f"file name, package.json ({version}), and kinetoscope_core disagree on the version or the platform"
    named = set(re.findall(r'"(?:\./)?((?:extension|examples)/[^"]*\.\w+)"', json.dumps(manifest)))
    for name in sorted(named | {manifest["icon"], manifest["main"].removeprefix("./")}):
        if PREFIX + name not in content:
            yield f"package.json names {name}, which is not there"


def _list(content: dict[str, bytes], target: str) -> Iterator[str]:
    requirements = (ROOT / "extension" / "bundled-requirements.txt").read_text(encoding="utf-8")
    libraries = re.findall(r"^(\S+)==(\S+)", requirements, flags=re.MULTILINE)
    infos = [f"{name.replace('-', '_')}-{version}.dist-info" for name, version in libraries]
    expected = {"[Content_Types].xml", "extension.vsixmanifest"}
    expected |= {PREFIX + name for name in FILES | BUILT}
    expected |= {BUNDLED + name for name in ("serve.py", "bundled.json")}
    expected |= {BUNDLED + f"{info}/METADATA" for info in infos}
    for folder, place in TRACKED.items():
        listing = subprocess.run(
            ["git", "ls-files", "-z", folder], cwd=ROOT, check=True, capture_output=True, text=True
        )
        expected |= {place + name.removeprefix(folder) for name in listing.stdout.split("\0") if name}
    expected.discard(BUNDLED + "kinetoscope_core/pages/README.md")  # of the repository; no code leads there
    each, stable = ENDINGS[target]
    binaries = {BUNDLED + f"tree_sitter_python/_binding.{stable}"}
    for module in ("msgspec/_core", "orjson/orjson", "tree_sitter/_binding"):
        binaries |= {BUNDLED + f"{module}.{each.format(abi)}" for abi in ABIS}
    expected |= binaries
    found = set(content)
    for name in sorted(expected - found):
        yield f"{name} is missing"
    tops = {BUNDLED + top for top in LIBRARIES.split()}
    for name in sorted(found - expected):
        top = "/".join(name.split("/")[:4])
        is_module = top in tops and name.endswith(".py")
        if not is_module and not any(name.startswith(f"{BUNDLED}{info}/licenses/") for info in infos):
            yield f"{name} does not belong there"
    for info in infos:
        if not any(name.startswith(f"{BUNDLED}{info}/licenses/") for name in found):
            yield f"{info} has no licence"


def _insides(name: str, data: bytes, content: dict[str, bytes]) -> Iterator[str]:
    """No test, no secret, nothing of the machine that built it, and no name of a source map that is not there."""
    if re.search(r"(^|/)(tests?|__pycache__|node_modules)/|(^|/)(test_|conftest)|\.map$|/\.", name):
        yield f"{name} does not belong into any package"
    if found := re.search(SECRETS, data):
        yield f"{name} holds what looks like a secret, at byte {found.start()}"
    paths = [ROOT] if name.endswith((".so", ".pyd")) else [ROOT, Path.home()]  # others' binaries name others' homes
    for path in paths:
        if f"{path}/".encode() in data:
            yield f"{name} names {path} of this machine"
    if name.endswith((".js", ".css")):
        for source_map in re.findall(rb"sourceMappingURL=(?!data:)(\S+)", data):
            if f"{name.rpartition('/')[0]}/{source_map.decode()}" not in content:
                yield f"{name} has a source map that is not there"


def _processors(data: bytes) -> set[str]:
    """Those that a compiled module says it is for, from the heads of ELF, Mach-O and PE files."""
    elf = {62: "x64", 183: "arm64"}
    mach = {0x01000007: "x64", 0x0100000C: "arm64"}
    if data[:4] == b"\x7fELF":
        return {elf[struct.unpack_from("<H", data, 18)[0]]}
    if data[:4] == b"\xcf\xfa\xed\xfe":
        return {mach[struct.unpack_from("<I", data, 4)[0]]}
    if data[:4] == b"\xca\xfe\xba\xbe":
        (count,) = struct.unpack_from(">I", data, 4)
        return {mach[struct.unpack_from(">I", data, 8 + 20 * index)[0]] for index in range(count)}
    if data[:2] == b"MZ":
        (head,) = struct.unpack_from("<I", data, 0x3C)
        return {{0x8664: "x64", 0xAA64: "arm64"}[struct.unpack_from("<H", data, head + 4)[0]]}
    return set()


def main() -> int:
    """0 if all that are named are as they should be."""
    code = 0
    for path in map(Path, sys.argv[1:]):
        problems = list(problems_of(path))
        for problem in problems:
            print(f"{path.name}: {problem}")
        code |= bool(problems)
        if not problems:
            print(f"{path.name}: {path.stat().st_size:,} bytes, as it should be")
    return code


if __name__ == "__main__":
    sys.exit(main())
