"""One run at a time: a double click, and the question whether to stop a run for another one."""

import asyncio

import pytest
from lsprotocol import types as lsp

from kinetoscope_server.runs import manager
from kinetoscope_server.runs.manager import Runs

from .test_profiling import ENDLESS, processes_in

pytestmark = pytest.mark.timeout(120)


async def test_a_double_click_is_one_click(start):
    client = await start()
    uri = client.copy("two_regions.py")
    client.open(uri)
    asked = [client.protocol.send_request_async("kinetoscope/profile", {"uri": uri}) for _ in range(2)]
    answers = await asyncio.gather(*asked)
    assert sorted(answer.how for answer in answers) == ["measured", "none"]
    assert not client.asked
    begun = [each for each in client.progress_reports.values() if isinstance(each[0], lsp.WorkDoneProgressBegin)]
    assert len(begun) == 1


async def test_a_second_click_on_a_lens_while_the_run_starts_says_nothing(start):
    client = await start(settings={"prepare": "off"})
    uri = client.write("endless.py", ENDLESS)
    client.open(uri)
    await client.run_lens(uri, "▷ Profile file")
    await client.run_lens(uri, "▷ Profile file")
    await client.until((client.workspace_path / "running").exists, "run")
    assert not client.asked
    assert not client.messages
    assert await client.execute("kinetoscope.cancel") is True
    await client.message()


@pytest.fixture
async def running(start):
    """A run that goes on, of a script beside another one."""
    client = await start(settings={"prepare": "off"})  # no process is left then but those of the run
    uri = client.write("endless.py", ENDLESS)
    client.open(uri)
    await client.run_lens(uri, "▷ Profile file")
    await client.until((client.workspace_path / "running").exists, "run")
    client.other = client.write("broken.py", "import torch\nfrom torch.profiler import record_function\n1 / 0\n")
    return client


@pytest.mark.parametrize("answer", ["Keep it", None])
async def test_another_run_asks_first_and_without_a_yes_nothing_happens(running, answer):
    running.answer = answer
    given = await running.protocol.send_request_async("kinetoscope/profile", {"uri": running.other})
    assert given.how == "refused"
    assert running.asked[0].message == "endless.py is already being profiled. Stop it and start again?"
    assert processes_in(running.workspace_path)
    assert len(running.progress_reports) == 1, "the run that was not started has a progress"


async def test_a_yes_ends_the_run_and_starts_the_other(running):
    running.answer = "Stop and start"
    given = await running.protocol.send_request_async("kinetoscope/profile", {"uri": running.other})
    assert given.how == "failed"
    assert not processes_in(running.workspace_path)
    assert "cancelled" in (await running.message()).message


async def test_a_run_that_ends_while_the_question_is_open_is_no_longer_in_the_way(running):
    running.answer = asyncio.get_running_loop().create_future()
    asked = asyncio.ensure_future(running.protocol.send_request_async("kinetoscope/profile", {"uri": running.other}))
    await running.until(lambda: running.asked, "question")
    assert await running.execute("kinetoscope.cancel") is True
    await running.message()
    assert len(running.progress_reports) == 1
    assert all(isinstance(each[-1], lsp.WorkDoneProgressEnd) for each in running.progress_reports.values())
    assert not asked.done(), "it began though nobody said so"
    running.answer.set_result("Stop and start")
    assert (await asked).how == "failed"
    assert len(running.asked) == 1


async def test_a_question_that_was_left_open_gives_way_to_the_next_click(monkeypatch):
    runs = Runs(None, None, lambda _: None)
    never = asyncio.get_running_loop().create_future()

    async def waits():
        return await never

    with runs.asked_for("region") as asked:
        waiting = asyncio.ensure_future(runs.prepared(asked, waits()))
        await asyncio.sleep(0)
        assert runs.is_same_click("region")
        assert not runs.is_same_click("another")
        monkeypatch.setattr(manager, "SAME_CLICK_S", 0.0)
        assert not runs.is_same_click("region")
        assert await waiting is None
        assert asked.gave_way
        assert runs.is_same_click("region"), "it is about to begin"
    assert not runs.is_same_click("region")
