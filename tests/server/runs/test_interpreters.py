"""Which Python runs the scripts: what there is, and the choice of a person after a run without torch or before one."""

import subprocess
import sys
from pathlib import Path

import pytest
from lsprotocol import types as lsp

pytestmark = pytest.mark.asyncio

SCRIPT = """import sys
print(sys.executable, sys.argv[1:])
import torch
for _ in range(10):
    with torch.profiler.record_function("step"):
        torch.ones(4).sum()
"""


@pytest.fixture
def bare(start):
    """An environment of the workspace without torch; its Python."""
    folder = start.workspace / ".venv"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", folder], check=True)
    return str(folder / "bin" / "python")


def ran_in(client):
    lines = "\n".join(each.message for each in client.log_messages).splitlines()
    return [line for line in lines if line.endswith("]") and line.startswith("/")]


async def test_what_there_is_is_listed_without_starting_any(start, bare, tmp_path):
    wrapper = start.workspace / "wrapper"
    wrapper.write_text(f"#!/bin/sh\ntouch {tmp_path}/started\n")
    wrapper.chmod(0o755)
    client = await start(settings={"interpreter": str(wrapper)})
    uri = client.write("train.py", SCRIPT)
    rows = {each["path"]: each for each in await client.ask("kinetoscope/interpreters", {"uri": uri, "named": [bare]})}
    version = ".".join(map(str, sys.version_info[:3]))
    assert rows[bare] == {
        "path": bare,
        "where": ".venv of the workspace",
        "text": f"Python {version} · no torch",
        "has_torch": False,
        "is_used": False,
    }
    assert rows[str(wrapper)] == {
        "path": str(wrapper),
        "where": "the one that is set",
        "text": "Python (version not known) · torch not known",
        "has_torch": None,
        "is_used": True,
    }
    ours = rows[sys.executable]
    assert ours["has_torch"]
    assert ours["text"].startswith(f"Python {version} · torch 2.")
    assert next(iter(rows.values()))["has_torch"], "those with torch come first"
    assert not (tmp_path / "started").exists()


@pytest.mark.parametrize("profile", ["minimal", "vscode"])
async def test_without_torch_another_interpreter_is_offered_and_the_run_goes_on_in_it(start, bare, profile):
    client = await start(profile, settings={"interpreter": bare})
    uri = client.write("train.py", SCRIPT)
    client.open(uri)
    client.answer = lambda params: params.actions[0].title
    await client.execute("kinetoscope.profileWithArguments", uri, None, ["--size", "5"])
    assert "step: CPU" in (await client.message()).message
    assert f"{bare} has no torch" in client.asked[0].message
    assert [each.title for each in client.asked[0].actions] == ["Choose Interpreter…"]
    assert client.asked[1].message.startswith("Which Python runs the scripts?")
    assert ran_in(client) == [f"{bare} ['--size', '5']", f"{sys.executable} ['--size', '5']"]

    other = client.write("other.py", SCRIPT)
    await client.execute("kinetoscope.profileFile", other)
    assert "step: CPU" in (await client.message()).message
    assert ran_in(client)[-1] == f"{sys.executable} []", "it holds for all files from then on"


async def test_an_interpreter_that_is_not_there_is_another_one_to_choose(start):
    client = await start("minimal", settings={"interpreter": "/nowhere/python"})
    uri = client.write("train.py", SCRIPT)
    await client.execute("kinetoscope.profileFile", uri)
    (question,) = await client.until(lambda: client.asked, "a question")
    assert question.message.startswith("No Python interpreter at /nowhere/python.")
    assert [each.title for each in question.actions] == ["Choose Interpreter…"]


async def test_an_interpreter_is_chosen_by_its_path_until_another_one_is_set(start, bare):
    client = await start(settings={"interpreter": bare})
    uri = client.write("train.py", SCRIPT)
    await client.execute("kinetoscope.chooseInterpreter", uri, "/nowhere/python")
    assert (await client.message()).message == "There is no Python that can be started at /nowhere/python."
    await client.execute("kinetoscope.chooseInterpreter", None, sys.executable)
    assert (await client.message()).message.startswith(f"Scripts run in {sys.executable}: Python 3.")
    await client.execute("kinetoscope.profileFile", uri)
    assert "step: CPU" in (await client.message()).message
    rows = {each["path"]: each for each in await client.ask("kinetoscope/interpreters", {"uri": uri})}
    assert rows[sys.executable]["is_used"]
    assert not rows[bare]["is_used"]

    again = str(Path(bare).with_name("python3"))
    for scope in (None, uri):
        client.set_configuration({"interpreter": again}, section="kinetoscope", scope_uri=scope)
    client.workspace_did_change_configuration(lsp.DidChangeConfigurationParams(None))
    await client.execute("kinetoscope.profileFile", uri)
    question = await client.until(lambda: client.asked, "a question")
    assert f"{again} has no torch" in question[0].message
    assert ran_in(client) == [f"{sys.executable} []", f"{again} []"]


async def test_what_is_set_is_taken_in_place_of_what_an_earlier_session_ran_in(start, bare):
    client = await start()
    uri = client.write("train.py", SCRIPT)
    await client.execute("kinetoscope.profileFile", uri)
    assert "step: CPU" in (await client.message()).message

    later = await start("minimal", settings={"interpreter": bare})
    later.open(uri)
    await later.until_lenses(uri, lambda lenses: any("Details" in title for _, title in lenses))
    await later.execute("kinetoscope.profileFile", uri)
    question = await later.until(lambda: later.asked, "a question")
    assert f"{bare} has no torch" in question[0].message
