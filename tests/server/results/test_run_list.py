"""The list of runs that views show, and what can be done there."""

import json
import shutil
import time
from datetime import datetime, timezone
from pathlib import Path

import orjson
import pytest

from kinetoscope_core.results.store import Store

TRACES = Path(__file__).parents[2] / "traces" / "h200"
pytestmark = pytest.mark.timeout(120)

SCRIPT = """import torch
from torch.profiler import record_function

for n in range(9):
    with record_function("outer"):
        with record_function("inner"):
            torch.ones(9).sum()
"""


async def profiled(client, name="runs.py", arguments=()):
    uri = client.write(name, SCRIPT)
    client.open(uri)
    answer = await client.ask("kinetoscope/profile", {"uri": uri, "arguments": list(arguments)})
    assert answer["how"] == "measured", answer
    return answer["run"], uri


async def test_runs_are_listed_newest_first_with_the_region_that_took_most(start):
    client = await start()
    assert await client.ask("kinetoscope/runs", {}) == []
    before = datetime.now(timezone.utc).replace(microsecond=0)
    first, uri = await profiled(client, arguments=["--n", "1"])
    await client.until(lambda: client.runs_changed, "notice of the run")
    trace = client.workspace_path / "a.json.gz"
    shutil.copy(TRACES / "matmul_add_64.json.gz", trace)
    await client.execute("kinetoscope.loadTrace", [str(trace)], [uri])
    await client.message()

    loaded, run = await client.ask("kinetoscope/runs", {})
    assert (loaded["id"], loaded["is_loaded"], loaded["title"]) == ("loaded-1", True, "a.json.gz")
    assert (loaded["started"], loaded["device"]["name"]) == (None, "NVIDIA H200")
    assert (loaded["largest"]["name"], loaded["largest"]["cuda_total_ns"] > 0) == ("matmul_add", True)
    assert (run["id"], run["title"], run["is_loaded"], run["is_pinned"]) == (first, "runs.py --n 1", False, False)
    assert before <= datetime.fromisoformat(run["started"]) <= datetime.now(timezone.utc)
    assert (run["regions"], run["largest"]["name"], run["problem"]) == (2, "outer", None)
    assert (run["script"], run["arguments"]) == ("runs.py", ["--n", "1"])
    assert min(run["seconds"], run["size_bytes"], run["largest"]["cpu_total_ns"]) > 0


async def test_a_deleted_run_is_gone_with_its_times_and_a_pinned_one_is_marked(start):
    client = await start()
    await client.ask("kinetoscope/runs", {})
    run, uri = await profiled(client)
    assert await client.hints(uri)
    await client.execute("kinetoscope.pinRun", run, True)
    assert [each["is_pinned"] for each in await client.ask("kinetoscope/runs", {})] == [True]
    await client.execute("kinetoscope.pinRun", run, False)
    assert [each["is_pinned"] for each in await client.ask("kinetoscope/runs", {})] == [False]

    client.answer = None
    await client.execute("kinetoscope.deleteRun", run, False)
    assert client.asked[-1].message == f"Delete the run {run} and its traces?"
    assert len(await client.ask("kinetoscope/runs", {})) == 1
    client.answer = "Delete"
    await client.execute("kinetoscope.deleteRun", run, False)
    assert await client.ask("kinetoscope/runs", {}) == []
    assert await client.hints(uri) == []
    assert not Store(client.workspace_path.parent / "cache" / "kinetoscope").runs()
    client.messages.clear()
    await client.execute("kinetoscope.deleteRun", run, True)
    assert (await client.message()).message == f"There is no stored run {run}. List them: kinetoscope runs"


async def test_what_another_program_stores_or_deletes_is_noticed(start):
    client = await start()
    run, _ = await profiled(client)
    await client.ask("kinetoscope/runs", {})
    seen = client.runs_changed
    Store(client.workspace_path.parent / "cache" / "kinetoscope").delete(run)
    await client.until(lambda: client.runs_changed > seen, "notice")
    assert await client.ask("kinetoscope/runs", {}) == []


async def test_a_result_that_cannot_be_read_is_listed_with_the_reason(start):
    client = await start("minimal")
    folder = client.workspace_path.parent / "cache" / "kinetoscope" / "runs" / "20260101-000000-aaaaaa"
    folder.mkdir(parents=True)
    (folder / "result.json").write_text(json.dumps({"schema": 1}))
    (row,) = await client.ask("kinetoscope/runs", {})
    assert row["problem"] == "This is a result of schema 1, not 2; measure again."
    await client.execute("kinetoscope.deleteRun", folder.name, True)
    assert await client.ask("kinetoscope/runs", {}) == []


async def test_a_list_of_50_large_results_is_quick(start):
    client = await start()
    run, _ = await profiled(client)
    runs = client.workspace_path.parent / "cache" / "kinetoscope" / "runs"
    values = orjson.loads((runs / run / "result.json").read_bytes())
    values["regions"] = [{**values["regions"][0], "name": f"r{n}"} for n in range(1000)]
    large = orjson.dumps(values)
    for number in range(50):
        folder = runs / f"20260101-{number:06}-aaaaaa"
        folder.mkdir()
        (folder / "result.json").write_bytes(large)
    took = []
    for _ in range(2):
        began = time.monotonic()
        assert len(await client.ask("kinetoscope/runs", {})) == 51
        took.append(time.monotonic() - began)
    print(f"50 results of {len(large)} bytes: {took[0]:.3f} s, then {took[1]:.3f} s")
    assert took[1] < min(1.0, took[0])
