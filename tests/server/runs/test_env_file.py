"""Variables of the workspace's `.env`: a run has them, messages and results do not."""

from lsprotocol import types as lsp

SCRIPT = """import os
print("word is", len(os.environ.get("SECRET_WORD", "")), os.environ.get("OTHER"))
import torch
for _ in range(10):
    with torch.profiler.record_function("step"):
        torch.ones(4).sum()
"""
ROSEBUD = "rosebud-1941"


def words(client):
    return [each.message for each in client.log_messages if each.message.startswith("word is")]


async def profiled(client, uri, **more):
    answer = await client.ask("kinetoscope/profile", {"uri": uri, **more})
    assert answer["how"] == "measured", answer["message"]


async def test_a_run_has_the_variables_of_the_file_and_nothing_else_shows_their_values(start):
    client = await start()
    uri = client.write("train.py", SCRIPT)
    (start.workspace / ".env").write_text(f"SECRET_WORD={ROSEBUD}\nOTHER=file\n")
    client.open(uri)
    assert (await client.tooltips(uri))[4, "▷ Profile"] == "Measure this region: python train.py (with .env)"
    await profiled(client, uri)
    assert words(client) == [f"word is {len(ROSEBUD)} file"]

    (start.workspace / ".env").write_text(f"SECRET_WORD={ROSEBUD}-2\n")
    await profiled(client, uri)
    assert words(client)[1:] == [f"word is {len(ROSEBUD) + 2} None"], "it is read anew for each run"

    assert ROSEBUD not in repr([client.log_messages, client.messages, client.progress, client.results])
    stored = [path.read_text() for path in start.cache.rglob("*.json")]
    assert stored
    assert ROSEBUD not in "".join(stored)


async def test_another_file_is_taken_where_one_is_named_and_none_where_that_is_wanted(start):
    client = await start(settings={"envFile": "", "environment": {"OTHER": "set"}})
    uri = client.write("train.py", SCRIPT)
    (start.workspace / ".env").write_text("SECRET_WORD=one\n")
    (start.workspace / "prod.env").write_text("SECRET_WORD=four\nOTHER=file\n")
    client.open(uri)
    await profiled(client, uri)
    await profiled(client, uri, command={"envFile": "prod.env"})
    await profiled(client, uri)
    assert words(client) == ["word is 0 set", "word is 4 set", "word is 4 set"]

    values = {"interpreter": client.interpreter, "envFile": "gone.env"}
    for scope in (None, uri):
        client.set_configuration(values, section="kinetoscope", scope_uri=scope)
    client.workspace_did_change_configuration(lsp.DidChangeConfigurationParams(None))
    answer = await client.ask("kinetoscope/profile", {"uri": uri})
    assert answer["message"].startswith(f"envFile names {start.workspace}/gone.env, which does not exist.")
