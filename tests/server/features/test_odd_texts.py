"""Names and settings that hold what texts seldom hold, and what is said of them."""

import sys

import pytest
from lsprotocol import types as lsp

pytestmark = pytest.mark.timeout(120)

ODD = r"""
from torch.profiler import record_function
for _ in range(9):
    with record_function("two\nlines"):
        pass
    with record_function("half \ud800"):
        pass
    for i in range(3):
        with record_function(f"many\t{i}\n"):
            pass
"""
NEVER = """
from torch.profiler import record_function
with record_function("it ran"):
    open("it ran", "w").close()
"""


async def profiled(client, uri, **asked):
    return await client.ask("kinetoscope/profile", {"uri": uri, **asked})


async def test_line_breaks_in_names_are_spelled_out_wherever_they_are_shown(start):
    client = await start()
    uri = client.write("odd.py", ODD)
    client.open(uri)
    answer = await profiled(client, uri)
    assert answer["how"] == "measured", answer
    hints = await client.hints(uri)
    assert [hint.position.line for hint in hints] == [3, 5, 8]
    shown = [client.text_of(hint) for hint in hints]
    assert shown[2].startswith(r"many\tN\n ×3 CPU ")
    symbols = await client.text_document_document_symbol_async(
        lsp.DocumentSymbolParams(lsp.TextDocumentIdentifier(uri))
    )
    shown += [symbol.name for symbol in symbols]
    assert shown[3:5] == [r"two\nlines", r"half \ud800"]
    actions = await client.code_actions(uri, 3)
    assert r"Profile again: two\nlines" in actions
    shown += [*actions, answer["message"]]
    (one,) = [await profiled(client, uri, line=3, name="two\nlines")]
    assert one["message"].startswith(r"two\nlines: CPU ")
    opened = await client.ask("kinetoscope/trace", {"uri": uri, "line": 3, "name": "two\nlines"})
    assert opened["title"] == r"two\nlines in odd.py"
    shown += [progress.title for progress in client.progress] + [progress.phase or "" for progress in client.progress]
    assert r"Profiling two\nlines in odd.py" in shown
    assert "**two\\\\nlines**" in await client.hover(uri, 3)
    client.replace(uri, 2, (3, 26), (3, 27), "T")
    assert "it was called two\\\\nlines when" in await client.hover(uri, 3)
    assert not [text for text in shown if not text.isprintable()]


@pytest.mark.parametrize(
    ("settings", "asked", "named"),
    [
        ({}, {"arguments": ["a\0b"]}, r"An argument is a\x00b"),
        ({}, {"arguments": ["\ud800"]}, r"An argument is \ud800"),
        ({"arguments": ["\udc80"]}, {}, r"An argument is \udc80"),
        ({"environment": {"A": "\0"}}, {}, r"A variable of the environment is \x00"),
        ({"environment": {"\ud800": "1"}}, {}, r"A variable of the environment is \ud800"),
        ({"workingDirectory": "\ud800"}, {}, "The interpreter, script or folder is "),
        ({"interpreter": "/bin/py\0thon"}, {}, "The interpreter, script or folder is "),
        ({"howFilesAreRun": [{"script": "\ud800.py"}]}, {}, r"\ud800.py is not on disk"),
        ({"workingDirectory": "nowhere"}, {}, "no folder {}/nowhere to run in. Give one with --cwd (in an editor: the"),
        ({"interpreter": "/no/python"}, {}, "at /no/python. Give the path of one with --python (in an editor: the"),
        ({"interpreter": "/etc/hosts"}, {}, "(in an editor: the setting kinetoscope.interpreter)."),
    ],
)  # fmt: skip
async def test_what_cannot_be_given_to_a_program_or_is_not_there_is_named_and_its_setting_too(
    start, settings, asked, named
):
    client = await start("minimal", settings)
    uri = client.write("never.py", NEVER)
    client.open(uri)
    answer = await profiled(client, uri, **asked)
    if answer["how"] == "measured":
        pytest.fail(answer["message"])
    assert named.format(client.workspace_path) in answer["message"]
    assert answer["message"].isprintable()
    assert not client.messages


async def test_a_region_with_fewer_calls_than_its_warm_up_is_measured_and_called_cold(start):
    client = await start("minimal", {"warmupCalls": 90})
    uri = client.write("never.py", NEVER)
    client.open(uri)
    answer = await profiled(client, uri, line=2, name="it ran")
    assert answer["how"] == "measured"
    assert answer["message"].startswith("it ran: CPU ")
    assert "×1, cold" in answer["message"]


async def test_a_script_without_torch_names_the_setting(start):
    client = await start(settings={"environment": {"PYTHONPATH": ""}})
    uri = client.write("fails.py", "raise ModuleNotFoundError(\"No module named 'torch'\", name='torch')\n")
    client.open(uri)
    answer = await profiled(client, uri)
    assert f"{sys.executable} has no torch; name a Python that has it with --python" in (answer["message"])


async def test_a_script_that_says_half_a_character_is_an_error_of_the_script(start):
    client = await start()
    uri = client.write("half.py", "import torch\nprint('\\n')\nraise ValueError('half \\ud800')\n")
    client.open(uri)
    answer = await profiled(client, uri)
    assert answer["how"] == "failed"
    assert r"The script failed: ValueError: half \ud800" in answer["message"]
    (failed, *_) = await client.diagnosed(uri)
    assert failed.range.start.line == 2


async def test_a_uri_with_nul_in_it_is_no_file(start):
    client = await start()
    client.open("file:///work/a%00b.py", "x = 1\n")
    await client.execute("kinetoscope.profileFile", "file:///work/a%00b.py")
    assert "is not a file on disk" in (await client.message()).message
    await client.execute("kinetoscope.loadTrace", ["a\0b", "c\ud800"], [])
    assert (await client.message()).message == r"There is no file a\x00b."
