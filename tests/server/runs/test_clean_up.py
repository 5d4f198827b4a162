"""A script whose times are shown while it still does what its `finally` says: who waits for it, and what ends it."""

import asyncio

import pytest
from lsprotocol import types as lsp

from .test_profiling import processes_in

pytestmark = pytest.mark.timeout(180)

SAVING = """import os
import time
import torch
from torch.profiler import record_function

try:
    while True:
        with record_function("step"):
            torch.ones(8, 8).sum()
finally:
    open("saving", "w").close()
    while not os.path.exists("disk"):
        time.sleep(0.02)
    open("saved", "a").write("saved\\n")
"""
WAITS = "waiting for the last run's own clean-up"


@pytest.fixture
async def saving(start):
    """A client, a script that was measured and saves until there is a `disk`, and the token of what shows that."""
    client = await start(settings={"prepare": "off"})
    uri = client.write("saving.py", SAVING)
    client.open(uri)
    answer = await client.protocol.send_request_async("kinetoscope/profile", {"uri": uri})
    assert answer.how == "measured"
    assert (await client.hint_texts(uri))[7].startswith("CPU "), "the times are there while the script saves"
    work = client.workspace_path
    await client.until((work / "saving").exists, "clean-up")
    token = await client.until(lambda: cleaning(client), "the progress of the clean-up")
    assert processes_in(work)
    assert not (work / "saved").exists()
    return client, uri, token


def cleaning(client):
    """The token of the progress that shows the newest clean-up."""
    for token, reports in reversed(client.progress_reports.items()):
        if reports and "does its own clean-up" in getattr(reports[0], "title", ""):
            return token
    return None


def has_ended(client, token):
    return isinstance(client.progress_reports[token][-1], lsp.WorkDoneProgressEnd)


async def test_the_next_click_waits_for_the_clean_up_and_can_be_cancelled_without_it(saving):
    client, uri, token = saving
    work = client.workspace_path
    begun = client.progress_reports[token][0]
    assert begun.title == "Profiling saving.py: the script has been measured and does its own clean-up"
    assert begun.cancellable

    first = asyncio.wrap_future(client.protocol.send_request("kinetoscope/profile", {"uri": uri}, msg_id="first"))
    await client.until(lambda: client.progress[-1].phase == WAITS, "the next run's waiting")
    client.cancel_request(lsp.CancelParams("first"))
    with pytest.raises(Exception, match="cancel"):
        await first
    await client.until(lambda: client.progress[-1].phase is None, "the end of the run that waited")
    assert processes_in(work), "the clean-up was not what was cancelled"
    assert not has_ended(client, token)

    second = asyncio.wrap_future(client.protocol.send_request("kinetoscope/profile", {"uri": uri}))
    await client.until(lambda: client.progress[-1].phase == WAITS, "the next run's waiting")
    (work / "disk").touch()
    await client.until((work / "saved").exists, "the end of the first clean-up")
    (work / "disk").unlink()
    await client.until(lambda: has_ended(client, token), "the end of what showed it")
    assert (await second).how == "measured"
    await client.until(lambda: cleaning(client) != token, "the progress of the second clean-up")
    assert await client.execute("kinetoscope.cancel") is True
    await client.until(lambda: not processes_in(work), "the end of the script")
    assert (work / "saved").read_text() == "saved\n"


async def test_its_cancel_ends_the_clean_up_and_leaves_the_times(saving):
    client, uri, token = saving
    client.window_work_done_progress_cancel(lsp.WorkDoneProgressCancelParams(token))
    await client.until(lambda: has_ended(client, token), "the end of what showed the clean-up")
    await client.until(lambda: not processes_in(client.workspace_path), "the end of the script")
    assert not (client.workspace_path / "saved").exists()
    assert (await client.hint_texts(uri))[7].startswith("CPU ")
