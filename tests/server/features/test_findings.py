"""Findings in the editor: squiggles with their pages, edits that carry them out, and comments that switch them off."""

from pathlib import Path

import pytest
from lsprotocol import types as lsp
from pygls.exceptions import JsonRpcException

from kinetoscope_core.analysis.findings import PAGES
from kinetoscope_core.results.measures import Finding
from kinetoscope_server.features import fixes
from kinetoscope_server.features.diagnostics import diagnostics
from kinetoscope_server.features.fixes import fix, suppression
from kinetoscope_server.settings.settings import Settings
from kinetoscope_server.text.documents import Document

TRACES = Path(__file__).parents[2] / "traces"
TINY = """from torch.profiler import record_function


def one_pass(run):
    with record_function("tiny_ops"):
        run()
"""
TRAIN = """import torch
from torch.profiler import record_function as rf

def step(model, loss):
    with rf("data"): pass
    with rf("forward"): pass
    with rf("backward"): pass
"""


async def loaded(client, name, text, trace):
    uri = client.write(name, text)
    client.open(uri)
    await client.execute("kinetoscope.loadTrace", [str(TRACES / trace)], [uri])
    await client.message()
    return uri


def applied(text, edit):
    """The text after one edit, as the JSON of an action has it."""
    lines = text.splitlines(keepends=True)
    place = edit["range"]["start"]
    line = lines[place["line"]]
    lines[place["line"]] = line[: place["character"]] + edit["newText"] + line[place["character"] :]
    return "".join(lines)


async def test_a_finding_is_a_squiggle_with_its_page_and_a_comment_takes_it_away(start):
    client = await start()
    uri = await loaded(client, "tiny.py", TINY, "h200/odd_overhead.json.gz")
    found = {each.code: each for each in await client.diagnosed(uri)}
    assert list(found) == ["tiny-kernels", "overhead-bound"]
    tiny = found["tiny-kernels"]
    assert tiny.severity == lsp.DiagnosticSeverity.Warning
    assert tiny.message.startswith("tiny_ops launches 200 kernels per call that take 903 ns each")
    assert "Could save up to 2.67 ms per call (" in tiny.message
    assert tiny.code_description.href == PAGES.joinpath("tiny-kernels.md").as_uri()
    assert "[tiny-kernels](file://" in await client.hover(uri, 4)

    (edit,) = (await client.code_actions(uri, 4))["Ignore here: tiny-kernels"]["edit"]["changes"][uri]
    text = applied(TINY, edit)
    assert text.splitlines()[4].endswith(":  # kinetoscope: ignore[tiny-kernels]")
    client.replace(uri, 2, (0, 0), (99, 0), text)
    await client.until(lambda: [each.code for each in client.diagnostics[uri]] == ["overhead-bound"], "its end")
    assert list(await client.code_actions(uri, 4)) == ["Profile again: tiny_ops", "Profile with…: tiny_ops"]


@pytest.mark.parametrize(("profile", "is_said"), [("vscode", False), ("minimal", True)])
async def test_a_hover_leaves_out_findings_that_the_client_shows_beside_it(start, profile, is_said):
    client = await start(profile)
    uri = await loaded(client, "tiny.py", TINY, "h200/odd_overhead.json.gz")
    squiggle = next(each.range for each in await client.diagnosed(uri) if each.code == "tiny-kernels")
    at_the_squiggle = await client.hover(uri, 4, squiggle.start.character)
    before_it = await client.hover(uri, 4, squiggle.start.character - 1)
    assert ("[Trace at tiny-kernels](command:kinetoscope.openTraceAt?" in at_the_squiggle) == (profile == "vscode")
    assert ("[Show in trace](command:kinetoscope.openTraceAt?" in before_it) == (profile == "vscode")
    assert "**tiny\\_ops**" in at_the_squiggle
    assert ("[tiny-kernels]" in at_the_squiggle) == is_said
    assert "[tiny-kernels]" in before_it


async def test_the_trace_opens_where_a_finding_shows_and_its_page_is_read(start):
    client = await start("minimal")
    uri = await loaded(client, "train.py", TRAIN, "h200/train_mlp.json.gz")
    actions = await client.code_actions(uri, 4)
    command = actions["Open the trace where it shows: idle-gap"]["command"]
    assert command["arguments"] == [uri, 4, "data", "idle-gap"]
    at_the_gap = await client.execute(command["command"], *command["arguments"])
    at_a_median = await client.execute("kinetoscope.openTrace", uri, 4, "data")
    assert at_the_gap.startswith("http://127.0.0.1:")
    assert at_the_gap != at_a_median
    assert (await client.execute("kinetoscope.explain", "tiny-kernels")).startswith("# tiny-kernels\n")


async def test_beside_a_squiggle_all_that_is_shown_is_offered_and_on_one_what_it_is_about(start):
    client = await start(settings={"severities": {"idle-gap": "off"}})
    uri = await loaded(client, "train.py", TRAIN, "h200/train_mlp.json.gz")
    offered = [title for title in await client.code_actions(uri, 4, about=[]) if title.startswith("Ignore")]
    assert offered == ["Ignore here: pageable-copy"]

    client = await start()
    uri = await loaded(client, "train.py", TRAIN, "h200/train_mlp.json.gz")
    (gap,) = [each for each in await client.diagnosed(uri) if each.code == "idle-gap"]
    offered = [title for title in await client.code_actions(uri, 4, about=[gap]) if title.startswith("Ignore")]
    assert offered == ["Ignore here: idle-gap"]


async def test_richer_clients_get_a_link_to_where_a_finding_shows(start):
    client = await start()
    uri = await loaded(client, "train.py", TRAIN, "h200/train_mlp.json.gz")
    run = await client.ask("kinetoscope/run", {"uri": uri})
    (index,) = [each["index"] for each in run["regions"] if each["measures"]["name"] == "data"]
    for place in ({"uri": uri, "line": 4, "name": "data"}, {"run": run["id"], "region": index}):
        at_a_median = await client.ask("kinetoscope/trace", place)
        at_the_gap = await client.ask("kinetoscope/trace", {**place, "finding": "idle-gap"})
        assert at_the_gap["link"] != at_a_median["link"]
    with pytest.raises(JsonRpcException, match="The finding tiny-kernels is no longer here"):
        await client.ask("kinetoscope/trace", {**place, "finding": "tiny-kernels"})


async def test_a_severity_of_the_settings_goes_over_that_of_a_finding(start):
    client = await start(settings={"severities": {"tiny-kernels": "hint", "overhead-bound": "off"}})
    uri = await loaded(client, "tiny.py", TINY, "h200/odd_overhead.json.gz")
    assert [(each.code, each.severity) for each in await client.diagnosed(uri)] == [
        ("tiny-kernels", lsp.DiagnosticSeverity.Hint)
    ]


@pytest.mark.parametrize(
    ("findings", "codes"),
    [("all", ["idle-gap", "pageable-copy", "overhead-bound"]), ("warnings", ["idle-gap"]), ("off", [])],
)
async def test_one_switch_shows_all_findings_the_warnings_or_none(start, findings, codes):
    client = await start(settings={"findings": findings, "severities": {"tiny-kernels": "warning"}})
    uri = await loaded(client, "train.py", TRAIN, "h200/train_mlp.json.gz")

    def shown():
        return [each.code for each in client.diagnostics.get(uri, ()) if each.range.start.line == 4]

    await client.until(lambda: uri in client.diagnostics and shown() == codes, "what the switch leaves")
    assert "idle-gap" in await client.hover(uri, 4)
    assert shown() == codes


async def test_what_concerns_the_run_stands_at_the_first_line(start):
    client = await start("minimal")
    text = TINY.replace("tiny_ops", "main_thread")
    uri = await loaded(client, "threads.py", text, "h200/odd_threads.json.gz")
    found = {each.code: each.range.start.line for each in await client.diagnosed(uri)}
    assert found["threads-without-region"] == 0
    actions = await client.code_actions(uri, 0)
    assert list(actions) == ["Ignore here: threads-without-region", "Explain: threads-without-region"]
    (edit,) = actions["Ignore here: threads-without-region"]["edit"]["changes"][uri]
    ignoring = applied(text, edit).splitlines(keepends=True)[0]
    assert ignoring.endswith("  # kinetoscope: ignore[threads-without-region]\n")
    client.replace(uri, 2, (0, 0), (1, 0), ignoring)
    await client.until(lambda: "threads-without-region" not in {d.code for d in client.diagnostics[uri]}, "its end")


async def test_tf32_is_allowed_below_the_imports(start):
    client = await start()
    uri = await loaded(client, "train.py", TRAIN, "h200/train_mlp.json.gz")
    actions = await client.code_actions(uri, 6)
    assert list(actions) == [
        "Multiply in TF32 from here on: set_float32_matmul_precision",
        "Ignore here: tensor-cores-unused",
        "Profile again: backward",
        "Profile with…: backward",
    ]
    action = actions["Multiply in TF32 from here on: set_float32_matmul_precision"]
    assert action["isPreferred"]
    (edit,) = action["edit"]["changes"][uri]
    assert applied(TRAIN, edit).startswith(
        "import torch\nfrom torch.profiler import record_function as rf\n\n"
        'torch.set_float32_matmul_precision("high")\n\ndef step'
    )
    client.replace(uri, 2, (0, 0), (1, 0), "import torch as t; t.backends.cuda.matmul.allow_tf32 = False\n")
    await client.diagnosed(uri)
    assert not any("TF32" in title for title in await client.code_actions(uri, 6))


# --- edits, by the text alone


def document(text):
    return Document("file:///a.py", "/a.py", 1, text, "utf-16")


def after(text, edit):
    lines = text.splitlines(keepends=True)
    row, column = edit.range.start.line, edit.range.start.character
    units = lines[row].encode("utf-16-le")
    lines[row] = (units[: 2 * column] + edit.new_text.encode("utf-16-le") + units[2 * column :]).decode("utf-16-le")
    return "".join(lines)


PINNED = Finding("synchronisation", "warning", "", {"waits": 5, "pinned_waits": 5}, 1)
HEAD = "from torch.profiler import record_function as rf\n"


@pytest.mark.parametrize(
    ("body", "wanted"),
    [
        ("    x = x.to(d)\n", "    x = x.to(d, non_blocking=True)\n"),
        ("    𐌰 = y.cuda()\n", "    𐌰 = y.cuda(non_blocking=True)\n"),
        ("    x = x.to(\n        d,\n    )\n", None),
        ("    x = x.to(d, non_blocking=False)\n", None),
        ("    x = x.to(d, **how)\n", None),
        ("    x, y = x.to(d), y.to(d)\n", None),
        ("    x = x.to(d\n", None),
    ],
)
def test_a_copy_is_made_not_to_wait_where_it_is_the_only_one(body, wanted):
    text = f'{HEAD}with rf("a"):\n{body}z = y.to(d)\n'
    made = document(text)
    found = fix(made, made.regions[0], PINNED) if made.regions else None
    if wanted is None and "        d,\n" in body:
        # The parenthesis stands on a line of its own: what is before it there is nothing.
        assert found is None or "non_blocking=True" in after(text, found[1])
        return
    assert (None if found is None else after(text, found[1])) == (
        None if wanted is None else f'{HEAD}with rf("a"):\n{wanted}z = y.to(d)\n'
    )


def test_waits_for_other_things_are_left_alone():
    made = document(f'{HEAD}with rf("a"):\n    x = x.to(d)\n')
    some = Finding("synchronisation", "warning", "", {"waits": 5, "pinned_waits": 4}, 1)
    assert fix(made, made.regions[0], some) is None


@pytest.mark.parametrize(
    ("line", "wanted"),
    [
        ('with rf("a"):', 'with rf("a"):  # kinetoscope: ignore[idle-gap]'),
        ('with rf("a"):  # why', 'with rf("a"):  # why  # kinetoscope: ignore[idle-gap]'),
        ('with rf("a"):  # kinetoscope: ignore[]', 'with rf("a"):  # kinetoscope: ignore[idle-gap]'),
        ('with rf("a"):  # Kinetoscope: ignore [x]', 'with rf("a"):  # Kinetoscope: ignore [x, idle-gap]'),
        ('with rf("a"):  # kinetoscope: ignore', None),
        ('with rf("a"): x = """\n"""', None),
        ('with rf("a"), \\\n  b:', None),
    ],
)
def test_a_comment_is_added_where_it_is_one(line, wanted):
    text = f"{HEAD}{line}\n    pass\n" if line.endswith(":") or "#" in line else f"{HEAD}{line}\n"
    made = document(text)
    edit = suppression(made, made.regions[0].last_line - 1, "idle-gap")
    assert (None if edit is None else after(text, edit).splitlines()[1]) == wanted


def test_a_text_is_read_once_for_all_findings_of_a_line_and_again_when_it_has_changed(monkeypatch):
    read = []
    parse = fixes.ast.parse
    monkeypatch.setattr(fixes.ast, "parse", lambda text: read.append(text) or parse(text))
    made = document(f"{HEAD}with rf('once'):\n    pass\n")
    for code in ("idle-gap", "tiny-kernels", "cold-start"):
        edit = suppression(made, 1, code)
        assert f"ignore[{code}]" in edit.new_text
    assert len(read) == 1
    assert suppression(document(f"{HEAD}with rf('changed'):\n    pass\n"), 1, "idle-gap") is not None
    assert len(read) == 2


@pytest.mark.parametrize(("line", "is_offered"), [("#!/usr/bin/env python3", False), ("# -*- coding: utf-8 -*-", True)])
def test_a_line_that_names_the_interpreter_gets_no_comment(line, is_offered):
    assert (suppression(document(f"{line}\n{HEAD}"), 0, "outside-regions") is not None) == is_offered


def test_of_a_thousand_regions_of_one_name_each_is_told_of_ten_others():
    text = "from torch.profiler import record_function\n" + 'with record_function("a"):\n    pass\n' * 1_000
    found = [each for each in diagnostics(document(text), [], [], Settings()) if each.code == "same-name"]
    assert len(found) == 1_000
    assert found[0].message.startswith("a also stands at line 4, 6, 8, 10, 12, 14, 16, 18, 20, 22 and 989 more. ")
    assert all(len(each.related_information or ()) == 10 for each in found)
