"""Lines at which a run entered regions that their text does not tell of: shown and followed like any other."""

import json
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

import pytest
from lsprotocol import types as lsp

from kinetoscope_core.results.measures import Breakdown
from kinetoscope_core.source.placement import fingerprints_of

pytestmark = pytest.mark.timeout(120)

# What enters the regions lies in another file: only a run can say that these two lines are some.
TEXT = """import torch
from mylib.timing import section

for step in range(9):
    with section("forward"):
        y = torch.ones(3) + 1
    with section(f"log_{step}"):
        print(y)
"""
SPREAD = {"sum": 5_000_000, "median": 1_000_000, "min": 900_000, "max": 1_200_000}
PARTS = asdict(Breakdown(0, 0, 0, 0, None, None, (), 0, (), 0, (), 1, 0))
CALL = {"trace": 0, "start_ns": 0, "cpu_total_ns": 1, "cuda_total_ns": None}


def region(line: int, name: str, **others: Any) -> dict[str, Any]:
    times = {"cpu_total_ns": SPREAD, "cpu_self_ns": SPREAD, "cpu_recorded_ns": 8_000_000}
    nothing = dict.fromkeys(
        ("cuda_total_ns", "cuda_self_ns", "cuda_busy_ns", "backward_cuda_ns", "launches", "bound", "cuda_recorded_ns"),
        None,
    )
    return {
        "name": name, "line": line, "calls": 8, "measured": 5, "is_cold": False, "unfinished": 0,
        **times, **nothing, "overhead_ns": 0, "median_call": CALL, "first": CALL, "breakdown": PARTS, "call_times": [],
        **others,
    }  # fmt: skip


def unmeasured(line: int, name: str, at_least_ns: int | None) -> dict[str, Any]:
    unfinished = 0 if at_least_ns is None else 1
    return {
        "name": name, "line": line, "calls": 1, "unfinished": unfinished, "at_least_ns": at_least_ns,
        "cuda_at_least_ns": None, "cuda_recorded_ns": None, "first": CALL,
    }  # fmt: skip


def keep(
    client: Any,
    uri: str,
    *regions: dict[str, Any],
    **others: Sequence[dict[str, Any]],
) -> None:
    """Stores a run of the text that entered these regions; `others` are its `groups` and those `unmeasured`."""
    path = uri.removeprefix("file://")
    told = {"regions": regions, **others}
    fingerprints = fingerprints_of(TEXT, [each["line"] for some in told.values() for each in some])
    result = {
        "schema": 2, "run": None, "traces": [], "device": None, "torch": "2.13.0", "device_total_ns": None,
        "outside_regions_ns": None, "no_cuda_because": "a test", "problems": [], "findings": [],
        "regions_cpu_ns": 8_000_000,
        **{name: [{**each, "file": path} for each in some] for name, some in told.items()},
        "sources": {path: [asdict(each) for each in fingerprints]},
    }  # fmt: skip
    folder = client.workspace_path.parent / "cache" / "kinetoscope" / "runs" / "20260101-000000-aaaaaa"
    folder.mkdir(parents=True)
    (folder / "result.json").write_text(json.dumps(result))


async def test_a_measured_line_has_its_hint_hover_and_lenses_and_keeps_them_through_edits(start):
    client = await start()
    uri = client.write("train.py", TEXT)
    keep(client, uri, region(5, "forward"), region(7, "log_0"), region(7, "log_1"))
    client.open(uri)
    await client.until(lambda: client.results.get(uri) and client.results[uri].regions, "results")
    assert await client.hint_texts(uri) == {4: "CPU 1.00 ms", 6: 'with section(f"log_{step}"): ×2 CPU 1.00 ms'}
    hover = await client.text_document_hover_async(lsp.HoverParams(lsp.TextDocumentIdentifier(uri), lsp.Position(4, 6)))
    assert "forward" in hover.contents.value
    lenses = await client.lenses(uri)
    assert {(4, "▷ Profile"), (4, "Details"), (6, "▷ Profile")} <= set(lenses)
    assert "forward" in await client.run_lens(uri, "Details", 4)
    assert "Profile again" in " ".join(await client.code_actions(uri, 4))

    client.replace(uri, 2, (0, 0), (0, 0), "# a line more\n")
    assert set(await client.hint_texts(uri)) == {5, 7}
    client.replace(uri, 3, (6, 13), (6, 18), "torch.zeros")  # in what runs inside of the first
    texts = await client.hint_texts(uri)
    assert texts[5] == "~ CPU 1.00 ms"
    client.replace(uri, 4, (5, 9), (5, 10), "r")  # and what its own line says has changed: it is another one
    assert set(await client.hint_texts(uri)) == {7}
    client.replace(uri, 5, (5, 8), (5, 9), "(")  # broken while one types
    assert set(await client.hint_texts(uri)) == {7}


async def test_a_call_that_had_not_ended_is_never_told_as_the_time_of_one(start):
    client = await start()
    uri = client.write("train.py", TEXT)
    keep(
        client, uri, region(5, "backward"),
        unmeasured=[unmeasured(5, "forward", 4_130_000_000), unmeasured(7, "log_0", 1_000_000)],
    )  # fmt: skip
    client.open(uri)
    await client.until(lambda: client.results.get(uri) and client.results[uri].regions, "results")
    assert await client.hint_texts(uri) == {4: "CPU 1.00 ms", 6: "CPU at least 1.00 ms, not ended"}
    assert (6, "Details") in await client.lenses(uri)
    details = await client.run_lens(uri, "Details", 4)
    assert "**forward** · CPU at least 4.13 s, not ended" in details
    assert "No call had ended" in details
    assert "budgetSeconds" in details

    told = {each.name: each for each in client.results[uri].regions}
    measures = told["forward"].measures
    assert (measures.measured, measures.cpu_total_ns, measures.at_least_ns) == (0, None, 4_130_000_000)
    assert told["forward"].share is None
    run = await client.ask("kinetoscope/run", {"uri": uri, "run": None})
    assert [(each["index"], each["measures"]["name"], each["row"]) for each in run["regions"]] == [
        (0, "backward", 4), (1, "forward", 4), (2, "log_0", 6),
    ]  # fmt: skip

    client.replace(uri, 2, (0, 0), (0, 0), "# a line more\n")
    assert set(await client.hint_texts(uri)) == {5, 7}
    client.replace(uri, 3, (7, 9), (7, 10), "r")
    assert set(await client.hint_texts(uri)) == {5}


async def test_names_that_differ_in_counters_are_one_at_their_line_with_findings_once(start):
    client = await start()
    uri = client.write("train.py", TEXT)
    finding = {
        "code": "tiny-kernels", "severity": "warning", "message": "It launches tiny kernels.", "evidence": {},
        "cost_ns": 9, "saves_at_most_ns": None, "spot": None,
    }  # fmt: skip
    steps = [region(7, f"log_{step}", series="log_N", findings=[finding]) for step in range(20)]
    series = region(7, "log_N", names=20, findings=[finding])
    keep(client, uri, *steps, groups=[series])
    client.open(uri)
    await client.until(lambda: client.results.get(uri) and client.results[uri].regions, "results")
    assert await client.hint_texts(uri) == {6: "log_N ×20 CPU 1.00 ms"}
    assert [each.name for each in client.results[uri].regions] == ["log_N"]
    found, times = await client.diagnosed(uri)
    assert (found.code, times.code) == ("tiny-kernels", "times")
    assert times.message.startswith("log_N. Per call of 20 names: CPU ")
    hover = await client.text_document_hover_async(lsp.HoverParams(lsp.TextDocumentIdentifier(uri), lsp.Position(6, 6)))
    assert "20 names" in hover.contents.value
    assert "log\\_11" in hover.contents.value
    assert "log\\_12" not in hover.contents.value
    assert "and 8 more names" in hover.contents.value


async def test_a_file_that_imports_torch_can_be_profiled_though_no_region_is_found(start):
    client = await start()
    uri = client.write("train.py", TEXT)
    client.open(uri)
    assert await client.lenses(uri) == [(0, "▷ Profile file"), (0, "⌄")]
    other = client.write("other.py", "import os\nprint('torch')\n")
    client.open(other)
    assert await client.lenses(other) == []


HELPED = """import torch
from contextlib import contextmanager
from torch.profiler import record_function


@contextmanager
def section(name):
    with record_function(name):
        yield


class timed(record_function):
    pass


def named(name):
    return record_function(name)


@contextmanager
def other():
    yield


with section("a"), other():
    with timed("b"):
        pass
    with other():
        pass


@named("c")
def f():
    pass
"""


async def test_lines_that_call_a_helper_of_the_file_can_be_profiled_before_any_run(start):
    client = await start()
    uri = client.write("train.py", HELPED)
    client.open(uri)
    # The helper's own line, too: it profiles all that is entered through it.
    assert [row for row, title in await client.lenses(uri) if title in ("▷", "▷ Profile")] == [7, 24, 25, 31]
    client.replace(uri, 2, (0, 0), (0, 0), "\n")
    assert [row for row, title in await client.lenses(uri) if title in ("▷", "▷ Profile")] == [8, 25, 26, 32]


async def test_a_finding_of_many_names_at_a_line_is_shown_once(start):
    client = await start()
    uri = client.write("train.py", TEXT)
    findings = [
        {
            "code": code, "severity": severity, "message": message, "evidence": {}, "cost_ns": cost_ns,
            "saves_at_most_ns": None, "spot": None,
        }
        for code, severity, message, cost_ns in [
            ("idle-gap", "information", "log_0 has a gap.", 9),
            ("idle-gap", "warning", "log_1 has a gap.", 99),
            ("tiny-kernels", "warning", "log_2 launches tiny kernels.", 50),
        ]
    ]  # fmt: skip
    keep(client, uri, *(region(7, f"log_{step}", findings=[each]) for step, each in enumerate(findings)))
    client.open(uri)
    found = await client.diagnosed(uri)
    assert [(each.code, each.message) for each in found] == [
        ("idle-gap", "2 of 3 regions at this line; the most expensive: log_1 has a gap."),
        ("tiny-kernels", "log_2 launches tiny kernels."),
        ("times", "3 regions. Per call: CPU 1.00 ms (self 1.00 ms)."),
    ]
    assert "log\\_0 has a gap" in await client.hover(uri, 6, 0)
