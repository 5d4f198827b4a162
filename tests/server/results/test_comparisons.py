"""A result against its baseline, as it is shown at the lines and asked for."""

import re
import shutil
from typing import Any
from zlib import crc32

import orjson
import pytest

pytestmark = pytest.mark.timeout(120)

SCRIPT = """import torch
from torch.profiler import record_function

for n in range(9):
    with record_function("outer"):
        with record_function("inner"):
            torch.ones(9).sum()
"""

AGAIN_WAITS = """
import pathlib, time
ran = pathlib.Path(__file__).with_name("ran")
if ran.exists():
    time.sleep(60)
ran.touch()
"""


async def profiled(client) -> tuple[str, str]:
    uri = client.write("compared.py", SCRIPT)
    client.open(uri)
    answer = await client.ask("kinetoscope/profile", {"uri": uri})
    assert answer["how"] == "measured", answer
    return answer["run"], uri


def spread(ns: int) -> dict[str, int]:
    return {"median": ns, "min": ns, "max": ns, "sum": 5 * ns}


def store_like(client, run: str, name: str, *, cpu: int, cuda: int | None = None, code: str = "") -> str:
    """Stores a run like that one, with other times at all regions, in ns; with `code`, of another text."""
    runs = client.workspace_path.parent / "cache" / "kinetoscope" / "runs"
    made = client.workspace_path.parent / name
    shutil.copytree(runs / run, made)
    values: dict[str, Any] = orjson.loads((made / "result.json").read_bytes())
    for region in values["regions"]:
        region |= {"cpu_total_ns": spread(cpu), "cpu_self_ns": spread(cpu), "cpu_middle_ns": None}
        if cuda is not None:
            region |= {"cuda_total_ns": spread(cuda), "cuda_self_ns": spread(cuda)}
    if cuda is not None:
        values |= {"device_total_ns": cuda, "device": {"name": "NVIDIA H200", "count": 1}, "no_cuda_because": None}
    values["run"]["seconds"] = float(crc32(name.encode()))  # no other process took just that
    if code:
        values["run"]["code"] = {file: code + digest[1:] for file, digest in values["run"]["code"].items()}
    (made / "result.json").write_bytes(orjson.dumps(values))
    made.rename(runs / name)  # as runs appear: in one step
    return name


async def test_a_run_is_compared_with_another_or_with_its_baseline(start):
    client = await start("minimal")
    run, _ = await profiled(client)
    assert await client.ask("kinetoscope/comparison", {"run": run}) is None
    before = store_like(client, run, "20200101-000000-aaaaaa", cpu=900_000_000, code="x")
    also_before = store_like(client, run, "20200101-000000-bbbbbb", cpu=910_000_000, code="x")

    found = await client.ask("kinetoscope/comparison", {"run": run})
    assert (found["schema"], found["a"]["runs"], found["b"]["runs"]) == (1, [also_before, before], [run])
    assert [each["cpu_total_ns"]["verdict"] for each in found["regions"]] == ["faster", "faster"]
    back = await client.ask("kinetoscope/comparison", {"run": before, "other": run})
    assert (back["a"]["runs"], back["b"]["runs"]) == ([run], [before, also_before])
    assert [each["cpu_total_ns"]["verdict"] for each in back["regions"]] == ["slower", "slower"]
    with pytest.raises(Exception, match="There is no stored run 20000101"):
        await client.ask("kinetoscope/comparison", {"run": run, "other": "20000101"})


def verdicts(story: str) -> dict[str, list[str]]:
    rows = (line.strip("| ").split(" | ") for line in story.splitlines() if line.startswith(("| CUDA", "| CPU")))
    return {row[0]: row[1:] for row in rows if len(row) == 5}


def baseline(client, uri: str) -> Any:
    found = client.results[uri].baseline
    return found and found.run


async def test_the_hint_has_an_arrow_behind_what_changed_most_and_the_hover_both_columns(start):
    client = await start(settings={"prepare": "off"})
    run, uri = await profiled(client)
    assert not any(mark in text for text in (await client.hint_texts(uri)).values() for mark in "▲▼")
    store_like(client, run, "20200101-000000-aaaaaa", cpu=80_000, cuda=314_000, code="x")
    now = store_like(client, run, "29990101-000000-aaaaaa", cpu=76_000, cuda=214_000)
    await client.execute("kinetoscope.showResult", uri, now)
    await client.until(lambda: baseline(client, uri), "a comparison")
    assert await client.hint_texts(uri) == dict.fromkeys((4, 5), "CUDA 214 µs ▼32 % · CPU 76.0 µs")

    story = await client.hover(uri, 4)
    found = verdicts(story)
    assert found["CUDA total"][:2] == ["314 µs", "214 µs"]
    assert (found["CUDA total"][3], found["CPU total"][3]) == ("**faster ▼32 %**", "cannot tell")
    assert "Compared with the run before the code changed, " in story
    assert "1 run before, 1 run now" in story

    # Another program deletes what it is compared with.
    shutil.rmtree(client.workspace_path.parent / "cache" / "kinetoscope" / "runs" / "20200101-000000-aaaaaa")
    await client.until(lambda: baseline(client, uri) is None, "end of the comparison")
    assert set((await client.hint_texts(uri)).values()) == {"CUDA 214 µs · CPU 76.0 µs"}


async def test_a_pinned_baseline_goes_before_the_last_change_and_is_named_until_it_is_unpinned(start):
    client = await start(settings={"prepare": "off"})
    run, uri = await profiled(client)
    oldest = store_like(client, run, "20200101-000000-aaaaaa", cpu=8_000_000, code="x")
    last = store_like(client, run, "20200102-000000-aaaaaa", cpu=900_000_000, code="y")
    now = store_like(client, run, "29990101-000000-aaaaaa", cpu=50_000_000, code="z")
    await client.execute("kinetoscope.showResult", uri, now)
    await client.until(lambda: baseline(client, uri) == run, "the run before")
    await client.execute("kinetoscope.deleteRun", run, True)
    await client.until(lambda: baseline(client, uri) == last, "the one before that")
    assert "▼" in (await client.hint_texts(uri))[4]

    await client.execute("kinetoscope.pinBaseline", None, oldest, True)
    await client.until(lambda: baseline(client, uri) == oldest, "the pinned one")
    assert client.results[uri].baseline.is_pinned
    assert "▲" in (await client.hint_texts(uri))[4]
    assert "Compared with the pinned baseline" in await client.hover(uri, 4)
    listed = {each["id"]: each["is_baseline"] for each in await client.ask("kinetoscope/runs", {})}
    assert listed == {now: False, last: False, oldest: True}

    await client.execute("kinetoscope.pinBaseline", uri, None, True)  # the shown one
    await client.until(lambda: baseline(client, uri) == now, "itself")
    assert not any(mark in text for text in (await client.hint_texts(uri)).values() for mark in "▲▼")
    await client.execute("kinetoscope.pinBaseline", uri, None, False)
    await client.until(lambda: baseline(client, uri) == last, "the run before, again")
    client.messages.clear()
    await client.execute("kinetoscope.pinBaseline", None, "loaded-1", True)
    assert (await client.message()).message == "Only a stored run can be a baseline, and loaded-1 is none."


async def test_where_it_cannot_tell_more_runs_are_offered_and_made(start):
    client = await start("minimal", {"prepare": "off"})
    run, uri = await profiled(client)
    (row,) = await client.ask("kinetoscope/runs", {})
    for number in range(5):
        cpu = int(row["largest"]["cpu_total_ns"] * 1.3)
        store_like(client, run, f"2020010{number}-000000-aaaaaa", cpu=cpu, code="x")
    titles: dict[str, Any] = {}
    while not any(title.startswith("Measure outer") for title in titles):
        titles = await client.code_actions(uri, 4)
    command = next(action["command"] for title, action in titles.items() if title.startswith("Measure outer"))
    assert command["arguments"][-1] > 1
    command["arguments"][-1] = 2
    client.messages.clear()
    await client.execute(command["command"], *command["arguments"])
    message = (await client.message()).message
    assert message.startswith("All 2 runs are stored. ")
    assert "Measured 2 regions." in message
    newest = (await client.ask("kinetoscope/runs", {}))[0]["id"]
    found = await client.ask("kinetoscope/comparison", {"run": newest})
    assert (found["b"]["processes"], found["a"]["processes"]) == (3, 5)


async def test_a_series_has_one_progress_and_what_was_measured_before_it_was_cancelled_is_kept(start):
    client = await start(settings={"prepare": "off"})
    uri = client.write("series.py", AGAIN_WAITS + SCRIPT)
    client.open(uri)
    await client.execute("kinetoscope.profileTimes", uri, None, None, 4)

    def said() -> list[Any]:
        return [report for reports in client.progress_reports.values() for report in reports]

    def is_second(report: Any) -> bool:
        return (getattr(report, "message", None) or "").startswith("run 2 of 4: ")

    await client.until(lambda: any(map(is_second, said())), "run 2")
    await client.execute("kinetoscope.cancel")
    assert (await client.message()).message.startswith("1 of 4 runs are stored. ")
    await client.until(lambda: said()[-1].kind == "end", "end of the progress")
    assert [each.kind for each in said() if each.kind != "report"] == ["begin", "end"]
    assert said()[0].title == "Profiling series.py, 4 times"
    assert len(await client.ask("kinetoscope/runs", {})) in (1, 2)  # of the second one, what was measured, if anything


async def test_the_message_at_the_end_of_a_run_begins_with_the_largest_change(start):
    client = await start("minimal", {"prepare": "off"})
    run, uri = await profiled(client)
    store_like(client, run, "20200101-000000-aaaaaa", cpu=900_000_000, code="x")
    found = await client.ask("kinetoscope/profile", {"uri": uri})
    assert re.match(r"(outer|inner): CPU [0-9.]+(?: %|×) faster than before\. Measured 2 regions\.", found["message"])
