"""A call that an exception ended is told as such, and one that had not ended is a time nowhere."""

import re

import pytest

from kinetoscope_core.cli.main import main

pytestmark = pytest.mark.timeout(120)

ALWAYS, SOMETIMES, TRAINING = 9, 15, 28


@pytest.fixture
async def shown(start):
    client = await start(settings={"budgetSeconds": 0.5})
    uri = client.copy("endings_of_calls.py")
    client.open(uri)
    await client.execute("kinetoscope.profileFile", uri)
    await client.message()
    await client.until(lambda: uri in client.results, "results")
    return client, uri


async def test_what_raised_says_so_at_the_line_and_what_did_not_end_has_no_time(shown, start, monkeypatch, capsys):
    client, uri = shown
    hints = await client.hint_texts(uri)
    assert re.fullmatch(r"CPU [^·]+ · raised KeyError", hints[ALWAYS])
    assert re.fullmatch(r"CPU [^·]+", hints[SOMETIMES])
    assert re.fullmatch(r"CPU at least .*, not ended", hints[TRAINING])

    assert "raised KeyError" in await client.hover(uri, ALWAYS)
    assert re.search(r"; \d+ raised ValueError, not counted", await client.hover(uri, SOMETIMES))
    story = await client.hover(uri, TRAINING)
    assert "No call had ended" in story
    assert "CPU total" not in story

    run = await client.ask("kinetoscope/run", {"uri": uri, "run": None})
    by_name = {each["measures"]["name"]: each["measures"] for each in run["regions"]}
    always, sometimes, training = (by_name[name] for name in ("always", "sometimes", "training"))
    assert (always["is_raised"], always["exception"]) == (True, "KeyError")
    assert {each["raised"] for each in always["call_times"]} == {"KeyError"}
    assert not sometimes["is_raised"]
    assert sometimes["raised"] > 0
    assert training["measured"] == 0
    assert training["at_least_ns"] > 0
    times = ("cpu_total_ns", "cpu_self_ns", "cuda_total_ns", "cuda_self_ns", "median_call", "call_times", "timeline")
    assert [training[name] for name in times] == [None] * len(times)

    monkeypatch.setenv("XDG_CACHE_HOME", str(start.cache))
    assert main(["runs", run["id"]]) == 0
    table = capsys.readouterr().out
    (row,) = (line for line in table.splitlines() if line.startswith(" training "))
    assert re.search(r"at least [\d.]+ .?s +0 of 1, not ended", row)
    assert re.search(r"^ *always .* raised", table, re.MULTILINE)
