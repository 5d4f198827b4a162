"""From a lens to times beside the lines, with real runs."""

import asyncio
import os
import re

import pytest
from lsprotocol import types as lsp

pytestmark = pytest.mark.timeout(120)

ENDLESS = """
import time
import torch
from torch.profiler import record_function

def step():
    with record_function("endless"):
        open("running", "w").close()
        try:
            time.sleep(600)
        finally:
            open("interrupted", "w").close()

step()
"""


NO_REGION = """
import torch
model = torch.nn.Linear(8, 8)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for _ in range(20):
    optimizer.zero_grad()
    model(torch.ones(4, 8)).sum().backward()
    optimizer.step()
"""

RAISES = """import torch
from torch.profiler import record_function

def f():
    with record_function('f'):
        raise ValueError('no')

f()
"""


@pytest.mark.parametrize("profile", ["vscode", "minimal"])
async def test_a_click_on_a_lens_brings_times_to_the_line(start, profile):
    client = await start(profile)
    uri = client.copy("two_regions.py")
    client.open(uri)
    assert await client.lenses(uri) == [
        (7, "▷ Profile"), (9, "▷"), (15, "▷ Profile"), (19, "▷ Profile file"), (19, "⌄"),
    ]  # fmt: skip
    assert await client.hints(uri) == []

    await client.run_lens(uri, "▷ Profile file")
    message = await client.message()

    assert "Measured 2 regions" in message.message
    texts = await client.hint_texts(uri)
    assert list(texts) == [7, 9]
    assert all(text.startswith("CPU ") for text in texts.values())
    *titles, result = [title for row, title in await client.lenses(uri) if row == 7]
    # A client that shows no hints has the times in the lens.
    assert titles == ["▷ Profile", *([texts[7]] if profile == "minimal" else []), "Trace", "Details"]
    assert re.fullmatch(r"two_regions\.py · \d\d:\d\d · CPU only", result)
    await client.until(lambda: "done" in "".join(each.message for each in client.log_messages), "the script's output")
    not_reached = [each for each in await client.diagnosed(uri) if each.code == "region-not-reached"]
    assert [each.range.start.line for each in not_reached] == [15]
    assert not list(client.workspace_path.glob("*.json")), "a file was written in the workspace"

    await details_hovers_and_traces(client, uri)
    await edits(client, uri)

    if profile == "vscode":
        assert lsp.WORKSPACE_INLAY_HINT_REFRESH in client.refreshed
        assert lsp.WORKSPACE_CODE_LENS_REFRESH in client.refreshed
        (reports,) = client.progress_reports.values()
        assert isinstance(reports[0], lsp.WorkDoneProgressBegin)
        assert isinstance(reports[-1], lsp.WorkDoneProgressEnd)
        assert any("two_regions.py" in progress.title for progress in client.progress)
        assert [region.name for region in client.results[uri].regions] == ["outer", "inner"]
    else:
        assert not client.refreshed
        assert not client.progress_reports
        assert not client.results

    again = await start(profile)
    again.open(uri)
    await again.until(lambda: uri in again.diagnostics, "diagnostics")
    for _ in range(100):
        if await again.hint_texts(uri) == texts:
            break
        await asyncio.sleep(0.05)
    assert await again.hint_texts(uri) == texts, "the stored result is not shown when the file is opened again"


async def test_a_file_without_a_region_says_what_its_steps_are_made_of(start):
    client = await start()
    uri = client.write("plain.py", NO_REGION)
    client.open(uri)
    answer = await client.ask("kinetoscope/profile", {"uri": uri})
    assert answer["how"] == "measured", answer
    assert re.search(
        r"No record_function region ran\. A step takes [^:]+: .*(forward|backward) CPU .*zero_grad CPU ",
        answer["message"],
    )
    assert "Measure this block" in answer["message"]
    (offer,) = answer["offers"]
    assert (offer["title"], offer["command"]["modules"]) == ("Profile modules", {"depth": None, "classes": []})
    whole = await client.ask("kinetoscope/run", {"run": answer["run"], "uri": None})
    assert whole["script"] == uri
    assert {"forward", "backward", "zero_grad"} <= {each["name"] for each in whole["contents"]["phases"]}


@pytest.mark.parametrize("profile", ["minimal", "vscode"])
async def test_in_a_file_without_a_region_the_modules_are_one_answer_away(start, profile):
    client = await start(profile)
    uri = client.write("plain.py", NO_REGION)
    client.open(uri)
    client.answer = "Profile modules"
    await client.execute("kinetoscope.profileFile", uri)
    await client.until(lambda: client.asked, "a question")
    (asked,) = client.asked
    assert asked.message.startswith("No record_function region ran. A step takes ")
    assert asked.type == lsp.MessageType.Info
    message = await client.message()
    assert message.message.startswith(("Measured ", "Linear: ")), message
    (hint,) = (await client.hint_texts(uri)).values()
    assert hint.startswith("CPU ")


async def details_hovers_and_traces(client, uri):
    hover = await client.hover(uri, 7)
    assert "**outer**" in hover
    assert "| CPU total |" in hover
    assert "5 of 10 calls measured" in hover or "calls measured" in hover
    assert "two_regions.py" in hover
    assert await client.hover(uri, 5) is None
    hint = (await client.hints(uri))[0]
    assert hint.tooltip is None
    resolved = await client.inlay_hint_resolve_async(hint)
    assert resolved.tooltip.value == hover
    markdown = await client.execute("kinetoscope.showDetails", uri, 7, "outer")
    assert "| CPU self |" in markdown
    if client.capabilities.window and client.capabilities.window.show_document:
        assert client.shown_documents[-1].uri.endswith("details.md")
    else:
        assert "| CPU self |" in client.messages.pop(0).message
    link = await client.execute("kinetoscope.openTrace", uri, 7, "outer")
    assert link.startswith("http://127.0.0.1:")
    if client.capabilities.window and client.capabilities.window.show_document:
        assert client.shown_documents[-1].uri == link
        assert client.shown_documents[-1].external
    else:
        assert link in client.messages.pop(0).message


async def edits(client, uri):
    texts = await client.hint_texts(uri)
    client.replace(uri, 2, (0, 0), (0, 0), "# a line more\n")
    assert await client.hint_texts(uri) == {8: texts[7], 10: texts[9]}
    client.replace(uri, 3, (11, 16), (11, 17), "torch.relu(x)")
    stale = await client.hint_texts(uri)
    assert stale == {8: "~ " + texts[7], 10: "~ " + texts[9]}
    assert "its code has changed since" in await client.hover(uri, 10)
    client.replace(uri, 4, (11, 16), (11, 29), "x")
    assert await client.hint_texts(uri) == {8: texts[7], 10: texts[9]}
    client.replace(uri, 5, (10, 30), (10, 35), "other")
    assert (await client.hint_texts(uri))[10] == "~ " + texts[9]
    assert "it was called inner" in await client.hover(uri, 10)
    client.replace(uri, 6, (10, 30), (10, 35), "inner")
    client.replace(uri, 7, (0, 0), (1, 0), "")
    assert await client.hint_texts(uri) == texts


async def test_one_region_is_measured_alone_by_the_request_and_its_answer_says_how_it_went(start):
    client = await start()
    uri = client.copy("two_regions.py")
    client.open(uri)
    client.progress_reports["mine"] = []
    answer = await client.protocol.send_request_async(
        "kinetoscope/profile", {"uri": uri, "line": 9, "name": "inner", "workDoneToken": "mine"}
    )
    assert answer.how == "measured"
    assert answer.message.startswith("inner: CPU ")
    assert answer.run
    assert 9 in await client.hint_texts(uri)
    assert not client.messages, "the answer says it already"
    await client.until(lambda: isinstance(client.progress_reports["mine"][-1], lsp.WorkDoneProgressEnd), "its end")


@pytest.mark.parametrize("way", ["request", "command", "progress"])
async def test_a_cancel_interrupts_the_script_and_leaves_no_process(start, way):
    # No other process is there then than those of the run, and nothing else ends the script.
    client = await start(settings={"prepare": "off", "budgetSeconds": 600})
    uri = client.write("endless.py", ENDLESS)
    client.open(uri)
    if way == "request":
        request = client.protocol.send_request("kinetoscope/profile", {"uri": uri}, msg_id="the-run")
    else:
        await client.run_lens(uri, "▷ Profile file")
    await client.until((client.workspace_path / "running").exists, "run")
    processes = processes_in(client.workspace_path)
    assert processes
    lenses = await client.lenses(uri)
    assert (6, "Cancel") in lenses

    if way == "request":
        client.cancel_request(lsp.CancelParams("the-run"))
        with pytest.raises(Exception, match="cancel"):
            await asyncio.wrap_future(request)
    elif way == "command":
        assert await client.execute("kinetoscope.cancel") is True
    else:
        client.window_work_done_progress_cancel(lsp.WorkDoneProgressCancelParams(next(iter(client.progress_reports))))
    await client.until((client.workspace_path / "interrupted").exists, "interrupt of the script")
    await client.until(lambda: not processes_in(client.workspace_path), "end of the script")
    if way != "request":
        assert "cancelled" in (await client.message()).message
    # What was measured is still being read for a moment.
    await client.until_lenses(uri, lambda lenses: (6, "Cancel") not in lenses)
    assert await client.execute("kinetoscope.cancel") is False


async def test_an_exception_of_the_script_is_shown_at_its_line_with_the_calls_that_led_there(start):
    client = await start()
    uri = client.write("raises.py", RAISES)
    client.open(uri)
    answer = await client.protocol.send_request_async("kinetoscope/profile", {"uri": uri})
    assert answer.how == "failed"
    await client.until(lambda: any(each.code == "run-failed" for each in client.diagnostics.get(uri, [])), "diagnostic")
    (failed,) = [each for each in client.diagnostics[uri] if each.code == "run-failed"]
    assert failed.severity == lsp.DiagnosticSeverity.Error
    assert "ValueError: no" in failed.message
    assert failed.range.start == lsp.Position(5, 8)
    assert [(each.location.range.start.line, each.message) for each in failed.related_information][:2] == [
        (5, "in f"),
        (7, "in <module>"),
    ]
    client.replace(uri, 2, (0, 0), (0, 0), "\n\n")
    moved = [("run-failed", 7)]
    await client.until(
        lambda: (
            [(each.code, each.range.start.line) for each in client.diagnostics[uri] if each.code == "run-failed"]
            == moved
        ),
        "moved diagnostic",
    )
    client.replace(uri, 3, (7, 8), (7, 13), "print")
    await client.until(lambda: not client.diagnostics[uri], "end of the diagnostic")


async def test_unsaved_text_is_saved_by_a_client_that_can_and_else_not_run_silently(start):
    client = await start()
    uri = client.copy("two_regions.py")
    client.open(uri)
    client.replace(uri, 2, (0, 0), (0, 0), "# unsaved\n")
    answer = await client.protocol.send_request_async("kinetoscope/profile", {"uri": uri, "line": 10, "name": "inner"})
    assert client.asked_to_save == [[uri]]
    assert answer.how == "measured"
    assert "Not saved: two_regions.py" in answer.message
    assert 10 in await client.hint_texts(uri), "measured on disk at line 10, shown where the text has it"

    client.replace(uri, 3, (10, 30), (10, 35), "brandnew")
    answer = await client.protocol.send_request_async(
        "kinetoscope/profile", {"uri": uri, "line": 10, "name": "brandnew"}
    )
    assert answer.how == "failed"
    assert "is not in two_regions.py as it is on disk" in answer.message


def processes_in(folder):
    """The processes whose working directory is the workspace: scripts that ran in it."""
    found = []
    for process in os.listdir("/proc"):
        if process.isdigit():
            try:
                if os.readlink(f"/proc/{process}/cwd") == str(folder):
                    found.append(int(process))
            except OSError:
                continue
    return found


async def test_a_client_that_saves_has_its_text_run(start):
    client = await start()
    uri = client.copy("two_regions.py")
    client.open(uri)
    client.replace(uri, 2, (0, 0), (0, 0), "# not saved yet\n")
    path = client.workspace_path / "two_regions.py"
    text = "# not saved yet\n" + path.read_text()

    def save():
        path.write_text(text)
        return True

    client.on_save = save
    answer = await client.protocol.send_request_async("kinetoscope/profile", {"uri": uri, "line": 10, "name": "inner"})
    assert answer.how == "measured"
    assert "Not saved" not in answer.message
    assert (await client.hint_texts(uri))[10].startswith("CPU ")


async def test_what_a_script_writes_in_pieces_is_logged_in_whole_lines(start):
    client = await start()
    pieces = "(b'one', b' line\\nand ', b'a half')"
    text = f"import os, time\nfor piece in {pieces}:\n    os.write(2, piece); time.sleep(0.1)\n"
    uri = client.write("pieces.py", text)
    client.open(uri)
    await client.execute("kinetoscope.profileFile", uri)
    await client.message()

    def logged():
        return [message.message for message in client.log_messages]

    await client.until(lambda: "and a half" in logged(), "what it wrote last")  # its process may still be leaving
    assert logged()[-2:] == ["one line", "and a half"]
