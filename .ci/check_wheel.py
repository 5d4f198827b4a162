"""Says whether a wheel holds the tracked files of the import packages, its metadata, and nothing else.

Usage: python .ci/check_wheel.py dist/kinetoscope-*.whl
"""

import subprocess
import sys
import zipfile
from pathlib import Path

FOLDERS = {"profiler_core/": "", "server/": "", "docs/findings/": "kinetoscope_core/pages/"}
"""What is packed, and under which name it lies in the wheel."""

METADATA = {"METADATA", "WHEEL", "RECORD", "entry_points.txt", "licenses/LICENSE"}


def tracked_files(folder: str, packed: str) -> set[str]:
    listing = subprocess.run(["git", "ls-files", "-z", folder], check=True, capture_output=True, text=True).stdout
    return {packed + name.removeprefix(folder) for name in listing.split("\0") if name}


def main() -> int:
    wheel = Path(sys.argv[1])
    metadata_folder = "-".join(wheel.name.split("-")[:2]) + ".dist-info/"
    expected = {metadata_folder + name for name in METADATA}
    for folder, packed in FOLDERS.items():
        expected |= tracked_files(folder, packed)
    with zipfile.ZipFile(wheel) as archive:
        found = set(archive.namelist())
    for name in sorted(expected - found):
        print(f"missing from {wheel.name}: {name}")
    for name in sorted(found - expected):
        print(f"does not belong into {wheel.name}: {name}")
    if found != expected:
        return 1
    print(f"{wheel.name}: {len(found)} files, as they should be")
    return 0


if __name__ == "__main__":
    sys.exit(main())
