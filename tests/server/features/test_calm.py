"""How much an editor is given to show of a training loop that an H200 ran: counted as the plain client gets it."""

from collections import Counter
from pathlib import Path

import pytest
from lsprotocol import types as lsp

ROOT = Path(__file__).parents[3]
TRACES = ROOT / "tests" / "traces"
LOOP = """import torch
from torch.profiler import record_function as rf

def train(model, batches, optimizer):
    for step in batches:
        with rf("train_step"):
            with rf("data"):
                batch = next(batches)
            with rf("forward"):
                for i, layer in enumerate(model):
                    with rf(f"layer_{i}"):
                        batch = layer(batch)
            with rf("backward"):
                batch.backward()
            with rf("optimizer"):
                optimizer.step()
            with rf("log"):
                print(batch.item())
"""


async def opened(client, name, text, trace):
    uri = client.write(name, text)
    client.open(uri)
    await client.execute("kinetoscope.loadTrace", [str(TRACES / trace)], [uri])
    await client.message()
    await client.diagnosed(uri)
    return uri


async def counted(client, uri):
    """Squiggles, diagnostics and lens texts of the file; the most diagnostics and quick fixes of a line."""
    found = client.diagnostics[uri]
    squiggles = [each for each in found if each.severity != lsp.DiagnosticSeverity.Hint]
    lenses = await client.lenses(uri)
    rows = {line for line, _ in lenses}
    actions = [len(await client.code_actions(uri, row)) for row in sorted(rows)]
    by_row = Counter(each.range.start.line for each in found)
    return {
        "squiggles": len(squiggles),
        "diagnostics": len(found),
        "most diagnostics of a line": max(by_row.values()),
        "lens texts": len(lenses),
        "quick fixes": sum(actions),
        "most quick fixes of a line": max(actions),
    }


BEFORE = {
    "train_mlp.py": {"squiggles": 3, "diagnostics": 8, "quick fixes": 44, "most quick fixes of a line": 9},
    "loop.py": {"squiggles": 9, "diagnostics": 16, "quick fixes": 61, "most quick fixes of a line": 13},
}
"""On 30 November 2026, for the plain client and VS Code alike."""


@pytest.mark.parametrize(("profile", "most_fixes"), [("minimal", 10), ("vscode", 4)])
async def test_a_training_loop_has_few_squiggles_and_few_quick_fixes(start, profile, most_fixes):
    client = await start(profile)
    example = (ROOT / "examples" / "train_mlp.py").read_text()
    uri = await opened(client, "train_mlp.py", example, "runs/train_mlp_focus/trace-1.json.gz")
    found = await counted(client, uri)
    assert found["squiggles"] == 1  # waiting-for-data
    assert found["most quick fixes of a line"] <= most_fixes
    uri = await opened(client, "loop.py", LOOP, "h200/train_mlp.json.gz")
    found = await counted(client, uri)
    assert found["squiggles"] == 3  # idle-gap, pageable-copy, tensor-cores-unused
    assert found["diagnostics"] <= 11
    assert found["most quick fixes of a line"] <= most_fixes


async def test_every_measured_region_has_its_times_and_bound_in_one_diagnostic_without_a_squiggle(start):
    client = await start()
    uri = await opened(client, "loop.py", LOOP, "h200/train_mlp.json.gz")
    times = {
        each.range.start.line: each.message
        for each in client.diagnostics[uri]
        if each.severity == lsp.DiagnosticSeverity.Hint and " Per call" in each.message
    }
    assert sorted(times) == [5, 6, 8, 10, 12, 14, 16]
    assert times[6] == "data is overhead-bound. Per call: CUDA 188 µs (self 188 µs), CPU 9.47 ms (self 136 µs)."
    assert (
        times[10] == "layer_N. Per call of 8 names: CUDA 1.86–43.1 µs (self 2.08 µs), CPU 40.2–85.0 µs (self 18.1 µs)."
    )
    assert [each.range.start.line for each in client.diagnostics[uri]].count(10) == 1


async def test_a_hint_stands_in_the_hover_as_it_has_no_squiggle_to_show_it_beside(start):
    client = await start()
    uri = await opened(client, "loop.py", LOOP, "h200/train_mlp.json.gz")
    (hint,) = [each for each in client.diagnostics[uri] if each.code == "backward-elsewhere"]
    assert "backward-elsewhere" in await client.hover(uri, 8, hint.range.start.character + 4)


async def test_times_that_lie_far_apart_are_shown_as_a_range(start):
    client = await start()
    text = 'from torch.profiler import record_function\nwith record_function("matmul_add"):\n    run()\n'
    uri = await opened(client, "matmul_add.py", text, "h200/matmul_add_64.json.gz")
    assert await client.hint_texts(uri) == {1: "CUDA 4.00 µs · CPU 81.3–344 µs"}
    assert "| CPU total | 105 µs |" in await client.hover(uri, 1)


async def test_a_region_in_another_has_one_short_lens_and_its_trace_and_details_elsewhere(start):
    client = await start()
    uri = await opened(client, "loop.py", LOOP, "h200/train_mlp.json.gz")
    lenses = await client.lenses(uri)
    assert [title for row, title in lenses if row == 5][:3] == ["▷ Profile", "Trace", "Details"]
    assert [title for row, title in lenses if row in (6, 8, 10, 12, 14, 16)] == ["▷"] * 6
    hover = await client.hover(uri, 6)
    assert "[Trace](command:kinetoscope.openTrace?" in hover
    assert "[Details](command:kinetoscope.showDetails?" in hover
