"""A click repeats what gave the times that are shown: the script, its arguments, its environment."""

import pytest
from lsprotocol import types as lsp

pytestmark = pytest.mark.timeout(120)

SIZES = """import os, sys
import torch
from torch.profiler import record_function

print("ran with", *sys.argv[1:], os.environ.get("WORD", "no word"))
with record_function("outer"):
    for layer in range(2):
        with record_function("inner"):
            torch.ones(2)
"""


def ran_with(client):
    return [each.message.removeprefix("ran with ") for each in client.log_messages if "ran with" in each.message]


async def profiled_with(client, uri, *arguments):
    await client.execute("kinetoscope.profileWithArguments", uri, None, list(arguments))
    assert "Measured" in (await client.message()).message


async def again(client, uri, title="▷ Profile", row=None):
    await client.run_lens(uri, title, row)
    await client.message()
    return ran_with(client)[-1]


@pytest.mark.parametrize("profile", ["vscode", "minimal"])
async def test_a_lens_repeats_the_arguments_that_gave_the_times_and_says_so(start, profile):
    client = await start(profile, settings={"environment": {"WORD": "hello"}})
    uri = client.write("sizes.py", SIZES)
    client.open(uri)
    assert (await client.tooltips(uri))[5, "▷ Profile"] == "Measure this region: python sizes.py (with WORD)"

    await profiled_with(client, uri, "--layers", "6 or 7")
    told = "python sizes.py --layers '6 or 7' (with WORD)"
    tooltips = await client.tooltips(uri)
    assert tooltips[5, "▷ Profile"] == f"Measure this region: {told}"
    assert tooltips[5, "▷ Profile file"] == f"Measure every region that is reached: {told}"
    assert await again(client, uri, "▷", row=7) == "--layers 6 or 7 hello"
    assert await again(client, uri, "▷ Profile file") == "--layers 6 or 7 hello"
    if profile == "vscode":
        titles = [each[0].title for each in client.progress_reports.values()]
        assert titles[1] == "Profiling inner in sizes.py --layers '6 or 7' (with WORD)"

    later = await start(profile)
    later.open(uri)
    await later.until_lenses(uri, lambda lenses: (5, "Details") in lenses)
    assert await again(later, uri, row=5) == "--layers 6 or 7 hello", "not after a restart of the editor"


async def test_a_run_of_a_file_that_was_not_open_is_repeated_too(start):
    client = await start()
    uri = client.write("sizes.py", SIZES)
    await client.execute("kinetoscope.profileWithArguments", uri, None, ["--typed"])
    await client.message()
    client.open(uri)
    await client.until_lenses(uri, lambda lenses: (5, "Details") in lenses)
    assert await again(client, uri, row=5) == "--typed no word"


async def test_where_there_are_no_times_the_last_run_is_repeated(start):
    client = await start()
    uri = client.write("sizes.py", SIZES.replace("import torch", "if '--right' not in sys.argv: exit(3)\nimport torch"))
    client.open(uri)
    await client.execute("kinetoscope.profileWithArguments", uri, None, ["--wrong"])
    assert "exit code 3" in (await client.message()).message
    assert (await client.tooltips(uri))[6, "▷ Profile"].endswith("python sizes.py --wrong")

    await profiled_with(client, uri, "--right")
    await client.execute("kinetoscope.profileWithArguments", uri, None, ["--wrong"])
    await client.message()
    assert await again(client, uri, row=6) == "--right no word", "what gave the times comes first"


async def test_a_setting_that_was_changed_after_the_run_comes_before_what_was_run(start):
    client = await start(settings={"arguments": ["--from", "settings"]})
    uri = client.write("sizes.py", SIZES)
    client.open(uri)
    await profiled_with(client, uri, "--typed")
    assert await again(client, uri, row=5) == "--typed no word"

    values = {"interpreter": client.interpreter, "arguments": ["--from", "settings"], "environment": {"WORD": "new"}}
    client.set_configuration(values, section="kinetoscope")
    client.set_configuration(values, section="kinetoscope", scope_uri=uri)
    client.workspace_did_change_configuration(lsp.DidChangeConfigurationParams(None))
    assert await again(client, uri, row=5) == "--typed new", "the arguments are those that were set before"

    values["arguments"] = ["--changed"]
    client.set_configuration(values, section="kinetoscope")
    client.set_configuration(values, section="kinetoscope", scope_uri=uri)
    client.workspace_did_change_configuration(lsp.DidChangeConfigurationParams(None))
    assert await again(client, uri, row=5) == "--changed new"
