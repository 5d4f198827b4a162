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
