"""Sweeps asked for in an editor."""

import asyncio
import re

import pytest

pytestmark = pytest.mark.timeout(120)

SCRIPT = """import argparse
import torch
from torch.profiler import record_function

parser = argparse.ArgumentParser()
parser.add_argument("--size", type=int, default=8)
size = parser.parse_args().size
if size < 0:
    raise ValueError("no such size")
for _ in range(8):
    with record_function("add"):
        torch.ones(size) + 1
"""


async def test_a_sweep_ends_with_its_table_and_one_message(start, tmp_path):
    client = await start("minimal")
    uri = client.write("add.py", SCRIPT)
    client.open(uri)
    await client.execute("kinetoscope.sweep", uri, None, None, ["size=8,-1"], 1)
    shown = [(await client.message()).message for _ in range(2)]
    said = next(each for each in shown if not each.startswith("Sweep "))
    table = next(each for each in shown if each.startswith("Sweep "))
    assert said == "Measured 1 of 2 settings. 1 setting failed."
    assert re.search(r"\| add \| 11 \| 8 \| [\d.]+ µs \|", table), table
    assert re.search(r"\| -1 \| .*no such size", table), table
    (page,) = tmp_path.rglob("details/sweep-*.md")
    page.with_name("sweep-gone.svg").touch()
    assert await client.execute("kinetoscope.showSweep", "last") == table
    assert list(page.parent.glob("sweep-*")) == [page], "pages of sweeps that are gone go, too"
    assert page.read_text(encoding="utf-8") == table, "one point is no line"
    await client.execute("kinetoscope.sweep", uri, None, None, ["size"], 1)
    await client.message()
    assert "'size' does not say what to vary: NAME=VALUE,VALUE" in (await client.message()).message


async def test_a_setting_of_a_sweep_is_shown_at_the_lines_and_said(start):
    client = await start("vscode")
    client.write("add.py", SCRIPT.replace("import torch\n", "import os\nimport torch\n", 1))
    uri = (client.workspace_path / "add.py").as_uri()
    client.open(uri)
    vary = ["size=8,16", "$ADDED=,1"]
    answer = await client.ask("kinetoscope/profile", {"uri": uri, "vary": vary, "repeat": 3})
    assert answer["message"] == "Measured 4 of 4 settings."
    (swept,) = await client.until(lambda: client.swept, "sweep")
    shown = await client.ask("kinetoscope/sweep", {"sweep": swept.sweep})
    assert re.search(r": add\.py, 4 settings, 3 runs each$", shown["title"])
    (table,) = shown["tables"]
    assert table["headings"][:4] == ["Region", "Line", "size", "ADDED"]
    rows = [(row["cells"][2:4], row["setting"], row["region"]) for row in table["rows"]]
    assert rows == [(["8", "—"], 0, 0), (["8", "1"], 1, 0), (["16", "—"], 2, 0), (["16", "1"], 3, 0)]
    assert shown["chart"].startswith("<svg ")
    assert shown["markdown"].startswith(shown["title"])

    settings = shown["sweep"]["settings"]
    run = await client.execute("kinetoscope.showSetting", "last", 3, 0)
    assert run in settings[3]["runs"]
    whole = await client.ask("kinetoscope/run", {"uri": uri, "run": None})
    assert whole["id"] == run
    assert whole["run"]["environment"]["ADDED"] == "1"
    median = shown["sweep"]["regions"][0]["cells"][3]["cpu_total_ns"]["b"]
    assert whole["regions"][0]["measures"]["cpu_total_ns"]["median"] == median, "what the table says"
    assert any(
        title.startswith("add.py --size 16 · size=16, ADDED=1 of the sweep · ") for _, title in await client.lenses(uri)
    )
    assert await client.execute("kinetoscope.showSetting", "last", 0, None) == settings[0]["runs"][-1]
    assert any(
        title.startswith("add.py --size 8 · size=8, no ADDED of the sweep · ") for _, title in await client.lenses(uri)
    )

    assert await client.execute("kinetoscope.showSetting", "last", 4, None) is None
    assert "has 4 settings; none is 4." in (await client.message()).message
    for each in settings[1]["runs"]:
        await client.execute("kinetoscope.deleteRun", each, True)
    assert await client.execute("kinetoscope.showSetting", "last", 1, 0) is None
    assert "No run of size=8, ADDED=1 is stored any more." in (await client.message()).message


async def test_a_sweep_is_a_request_too_and_is_cancelled_as_a_run(start):
    client = await start("vscode")
    uri = client.write("add.py", SCRIPT.replace("    with", "    import time\n    time.sleep(size)\n    with"))
    client.open(uri)
    params = {"uri": uri, "line": None, "name": None, "arguments": None, "vary": ["size=0,1000"], "replace": False}
    asked = client.ask("kinetoscope/profile", params)
    answer = asyncio.ensure_future(asked)
    await client.until(
        lambda: any("run 2 of 2, size=1000" in (each.phase or "") for each in client.progress), "second run", 60
    )
    assert await client.execute("kinetoscope.cancel")
    answered = await answer
    assert (answered["how"], answered["message"]) == ("cancelled", "Measured 1 of 2 settings.")
