"""What the server says of a file: from its text alone, and of a trace that an H200 recorded."""

import gzip
import json
import re
from pathlib import Path
from urllib.parse import quote

import pytest
from lsprotocol import types as lsp

TRACES = Path(__file__).parents[2] / "traces" / "h200"
MATMUL = """from torch.profiler import record_function


def one_pass(run):
    with record_function("matmul_add"):
        run()
"""
TRAIN = """from torch.profiler import record_function as rf

def step(model, loss):
    with rf("forward"): pass
    with rf("backward"), rf("optimizer"):
        pass
    for i in range(3):
        with rf(f"layer_{i}"):
            pass
"""


async def loaded(client, name, text, trace):
    uri = client.write(name, text)
    client.open(uri)
    await client.execute("kinetoscope.loadTrace", [str(TRACES / trace)], [uri])
    message = await client.message()
    assert message.type == lsp.MessageType.Info, message
    return uri


@pytest.mark.parametrize("profile", ["vscode", "minimal"])
async def test_a_trace_from_elsewhere_brings_cuda_times_to_the_line(start, profile):
    client = await start(profile)
    uri = await loaded(client, "matmul_add.py", MATMUL, "matmul_add_4096_warm.json.gz")
    (hint,) = await client.hints(uri)
    text = client.text_of(hint)
    assert text.startswith("CUDA ")
    assert " · CPU " in text
    assert len(text) <= 43
    assert hint.position == lsp.Position(4, len(MATMUL.splitlines()[4]))
    assert [part.command.command for part in hint.label] == ["kinetoscope.openTrace", "kinetoscope.showDetails"]
    hover = await client.hover(uri, 4)
    for row in ("CUDA total, self, busy", "CPU total", "CPU self"):  # alike here, and told once
        assert f"| {row} |" in hover
    assert "**matmul\\_add** · compute-bound" in hover
    assert "| kernels" in hover
    assert "| aten::" in hover
    assert "to the most expensive kernel: matmul\\_add → aten::" in hover
    (bound,) = await client.diagnosed(uri)
    assert bound.code == "compute-bound"
    assert bound.severity == lsp.DiagnosticSeverity.Hint
    assert bound.message.startswith("matmul_add is compute-bound: the GPU worked ")
    assert re.search(r" Per call: CUDA .* \(self .*\), CPU .* \(self .*\)\.$", bound.message)
    assert bound.code_description.href.endswith("/findings/compute-bound.md")
    assert await client.hints(uri, 0, 3) == []
    assert await client.hints(uri, 5, 9) == []

    link = await client.execute("kinetoscope.openTrace", uri, 4, "matmul_add")
    assert link.startswith("http://127.0.0.1:")


async def test_the_evidence_of_an_overhead_bound_region_is_what_the_table_of_measures_says(start):
    client = await start()
    uri = await loaded(client, "matmul_add.py", MATMUL, "matmul_add_64.json.gz")
    _, bound = await client.diagnosed(uri)
    assert bound.code == "overhead-bound"
    assert "the GPU worked 19.7 µs of " in bound.message


async def test_code_actions_stand_at_a_region_and_know_what_is_measured(start):
    client = await start("minimal")
    uri = client.write("matmul_add.py", MATMUL)
    client.open(uri)

    assert list(await client.code_actions(uri, 4)) == ["Profile: matmul_add", "Profile with…: matmul_add"]
    assert not await client.code_actions(uri, 2)
    await client.execute("kinetoscope.loadTrace", [str(TRACES / "matmul_add_64.json.gz")], [uri])
    await client.message()
    await client.diagnosed(uri)
    actions = await client.code_actions(uri, 4)
    assert list(actions) == [
        "Ignore here: cold-start",
        "Open the trace where it shows: cold-start",
        "Explain: cold-start",
        "Profile again: matmul_add",
        "Profile with…: matmul_add",
        "Open the trace in Perfetto at matmul_add",
        "Show the details of matmul_add",
    ]
    about = [[each["code"] for each in action.get("diagnostics", [])] for action in actions.values()]
    assert about == 3 * [["cold-start"]] + 4 * [[]]
    assert list(await client.code_actions(uri, 4, only=["source"])) == []
    assert len(await client.code_actions(uri, 4, only=["quickfix"])) == 7

    await client.execute("kinetoscope.clear", uri, 4, "matmul_add")
    assert await client.hints(uri) == []
    await client.until(lambda: not client.diagnostics[uri], "empty diagnostics")


async def test_several_regions_and_names_at_one_line_are_one_hint(start):
    client = await start()
    uri = await loaded(client, "train.py", TRAIN, "train_mlp.json.gz")
    texts = await client.hint_texts(uri)
    assert set(texts) == {3, 4, 7}
    assert "×" in texts[7]
    assert texts[4].startswith("×2 CUDA ")
    assert "–" in texts[4]
    assert all(len(text) <= 43 for text in texts.values())


async def test_a_hover_says_what_a_region_is_made_of_and_stays_short(start):
    client = await start()
    uri = await loaded(client, "train.py", TRAIN, "train_mlp.json.gz")
    forward = await client.hover(uri, 3)
    for row in ("CPU of nested regions", "CPU of operators", "CPU self"):
        assert f"| {row} |" in forward
    assert "| kernels, 5 of 6 | count | CUDA | share |" in forward
    assert "| aten::mean | 4 | 278 µs | 23.1 µs |" in forward
    assert "forward → layer\\_0 → aten::linear → aten::addmm → cudaLaunchKernelExC → sm80\\_xmma" in forward
    assert len(forward.splitlines()) < 40
    backward = await client.hover(uri, 4)
    assert "| AddmmBackward0, autograd thread | 16 | 2.56 ms | 1.02 ms |" in backward


async def test_outline_symbols_are_nested_as_in_the_text(start):
    client = await start()
    uri = client.copy("two_regions.py")
    client.open(uri)
    found = await client.text_document_document_symbol_async(lsp.DocumentSymbolParams(lsp.TextDocumentIdentifier(uri)))
    assert [(each.name, [child.name for child in each.children]) for each in found] == [
        ("outer", ["inner"]),
        ("never", []),
    ]
    assert found[0].range.start.line == 7
    assert found[0].range.end.line == 10


async def test_what_measures_something_else_is_said_at_its_line_and_can_be_silenced(start):
    text = (
        "from torch.profiler import record_function\n"
        "@record_function('a')\nasync def a(): pass\n"
        "@record_function('b')\ndef b(): yield\n"
        "@record_function('c')\ndef c(): c()\n"
        "def d():\n    with record_function('d'): pass\n    with record_function('d'): pass\n"
    )
    client = await start(settings={"severities": {"decorator-generator": "off", "same-name": "warning"}})
    uri = client.write("odd.py", text)
    client.open(uri)
    await client.until(lambda: len(client.diagnostics.get(uri, [])) == 4, "diagnostics")
    found = {each.range.start.line: each for each in client.diagnostics[uri]}
    assert {line: each.code for line, each in found.items()} == {
        1: "decorator-async",
        5: "decorator-recursive",
        8: "same-name",
        9: "same-name",
    }
    assert found[8].severity == lsp.DiagnosticSeverity.Warning
    assert [each.location.range.start.line for each in found[8].related_information] == [9]
    client.set_configuration({"severities": {}}, section="kinetoscope")
    client.workspace_did_change_configuration(lsp.DidChangeConfigurationParams(None))
    await client.until(lambda: len(client.diagnostics[uri]) == 5, "diagnostics as they come")


async def test_wrong_settings_are_named_without_their_value(start):
    client = await start(settings={"warmupCalls": "three", "hints": "all", "speed": 1})
    await client.until(lambda: len(client.messages) == 3, "messages")
    messages = sorted(message.message for message in client.messages)
    assert (
        messages[0]
        == "kinetoscope.hints: its value is not one of total and self, total, lens, off; the default is used."
    )
    assert messages[1].startswith("kinetoscope.speed: there is no such setting (")
    assert messages[2].startswith("kinetoscope.warmupCalls: its value is not a whole number from 0 to 1,000,000;")


async def test_hints_and_lenses_can_be_switched_off(start):
    client = await start(settings={"lenses": False, "hints": "off"})
    uri = await loaded(client, "matmul_add.py", MATMUL, "matmul_add_64.json.gz")
    assert await client.hints(uri) == []
    assert await client.lenses(uri) == []


@pytest.mark.parametrize(("profile", "hints"), [("vscode", "lens"), ("minimal", "total and self")])
async def test_times_stand_in_the_lens_where_no_hint_is_shown(start, profile, hints):
    client = await start(profile, settings={"hints": hints})
    uri = await loaded(client, "matmul_add.py", MATMUL, "matmul_add_64.json.gz")
    titles = [title for _, title in await client.lenses(uri)]
    assert titles[:4] == ["▷ Profile", "CUDA 4.00 µs · CPU 81.3–344 µs", "Trace", "Details"]
    if hints == "lens":
        assert await client.hints(uri) == []


@pytest.mark.parametrize("profile", ["vscode", "minimal"])
async def test_columns_are_in_the_agreed_units_also_below_odd_line_ends(start, profile):
    client = await start(profile)
    text = (
        'from torch.profiler import record_function\r\nx = """\x0c \u2028 \x85"""\r\n'
        'with record_function("\U0001d54fé"): y = 1\r\n'
    )
    uri = client.write("odd.py", text)
    client.open(uri, text)
    symbols = lsp.DocumentSymbolParams(lsp.TextDocumentIdentifier(uri))
    (symbol,) = await client.text_document_document_symbol_async(symbols)
    wide, narrow = {"vscode": (2, 1), "minimal": (4, 2)}[profile]
    assert symbol.name == "\U0001d54fé"
    assert symbol.selection_range.start == lsp.Position(2, 5)
    assert symbol.selection_range.end == lsp.Position(2, 5 + len('record_function("")') + wide + narrow)
    client.replace(uri, 2, (2, 22), (2, 22 + wide), "\U0001d550")
    (symbol,) = await client.text_document_document_symbol_async(symbols)
    assert symbol.name == "\U0001d550é"


async def test_cells_of_notebooks_and_unsaved_buffers_are_left_alone(start):
    client = await start()
    for uri in ("vscode-notebook-cell:/work/a.ipynb#X1", "untitled:Untitled-1"):
        client.open(uri, MATMUL)
        assert await client.lenses(uri) == []
        assert await client.hints(uri) == []
        assert await client.hover(uri, 4) is None
        client.replace(uri, 2, (0, 0), (0, 0), "\n")
        client.text_document_did_close(lsp.DidCloseTextDocumentParams(lsp.TextDocumentIdentifier(uri)))
    assert not client.diagnostics
    await client.execute("kinetoscope.profileFile", "untitled:Untitled-1")
    assert "is not a file on disk" in (await client.message()).message


async def test_a_file_that_is_no_trace_is_said_to_be_none(start):
    client = await start()
    uri = client.write("matmul_add.py", MATMUL)
    client.open(uri)
    await client.execute("kinetoscope.loadTrace", [uri], [])
    message = await client.message()
    assert message.type == lsp.MessageType.Error
    await client.execute("kinetoscope.loadTrace", ["/nowhere/trace.json"], [])
    assert (await client.message()).message == "There is no file /nowhere/trace.json."


async def test_results_of_every_open_file_are_shown_not_only_of_the_one_that_ran(start):
    client = await start()
    uris = [client.write(name, text) for name, text in (("forward.py", TRAIN), ("other.py", MATMUL))]
    trace = client.workspace_path / "both.json"
    trace.write_bytes(gzip.decompress((TRACES / "train_mlp.json.gz").read_bytes()))
    for uri in uris:
        client.open(uri)
    await client.execute("kinetoscope.loadTrace", [str(trace), str(TRACES / "matmul_add_64.json.gz")], [])
    await client.message()
    assert await client.hints(uris[0])
    assert await client.hints(uris[1])


async def test_what_is_shown_of_a_file_follows_the_settings_of_its_folder(start):
    client = await start()
    for name in ("plain", "quiet"):
        (client.workspace_path / name).mkdir()
    quiet = {"hints": "off", "lenses": False, "severities": {"overhead-bound": "information"}}
    scope = (client.workspace_path / "quiet").as_uri()
    client.set_configuration(quiet, section="kinetoscope", scope_uri=scope)
    trace = "matmul_add_64.json.gz"
    shown, hidden = [await loaded(client, f"{name}/matmul_add.py", MATMUL, trace) for name in ("plain", "quiet")]

    assert await client.hints(shown)
    assert await client.lenses(shown)
    assert await client.hints(hidden) == []
    assert await client.lenses(hidden) == []
    for uri, severity in ((shown, lsp.DiagnosticSeverity.Hint), (hidden, lsp.DiagnosticSeverity.Information)):
        _, bound = await client.diagnosed(uri)
        assert bound.severity == severity

    off = {"overhead-bound": "off", "cold-start": "off"}
    client.set_configuration({"severities": off}, section="kinetoscope", scope_uri=scope)
    client.workspace_did_change_configuration(lsp.DidChangeConfigurationParams(None))
    await client.until(lambda: not client.diagnostics[hidden], "change")
    assert await client.hints(hidden)
    client.close(hidden)
    assert client.diagnostics[shown]


async def test_a_changed_setting_holds_for_the_very_next_request(start):
    client = await start()
    uri = await loaded(client, "matmul_add.py", MATMUL, "matmul_add_64.json.gz")
    assert await client.hints(uri)
    client.set_configuration({"hints": "off"}, section="kinetoscope")
    client.set_configuration({"hints": "off"}, section="kinetoscope", scope_uri=uri)
    client.workspace_did_change_configuration(lsp.DidChangeConfigurationParams(None))
    assert await client.hints(uri) == []


async def test_hint_lens_and_hover_lead_to_the_trace_also_without_a_gpu(start):
    client = await start()
    uri = client.write(
        "cpu.py", 'from torch.profiler import record_function\nwith record_function("work"):\n    pass\n'
    )
    client.open(uri)
    answer = await client.ask("kinetoscope/profile", {"uri": uri})
    assert answer["how"] == "measured", answer
    place = [uri, 1, "work"]
    (hint,) = await client.hints(uri)
    (part,) = hint.label
    assert (part.command.command, list(part.command.arguments)) == ("kinetoscope.openTrace", place)
    query = quote(json.dumps(place), safe="")
    assert f"[Trace](command:kinetoscope.openTrace?{query})" in await client.hover(uri, 1)
    links = [await client.execute(part.command.command, *part.command.arguments), await client.run_lens(uri, "Trace")]
    assert all(link.startswith("http://127.0.0.1:") for link in links)
    assert [each.uri for each in client.shown_documents] == links


async def test_what_is_known_of_a_file_is_told_whenever_it_is_opened(start):
    client = await start()
    uri = await loaded(client, "matmul_add.py", MATMUL, "matmul_add_64_warm.json.gz")
    await client.until(lambda: uri in client.results and client.results[uri].regions, "results")
    client.close(uri)
    client.results.clear()
    client.open(uri)
    await client.until(lambda: uri in client.results and client.results[uri].regions, "results again")
