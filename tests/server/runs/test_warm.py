"""The prepared interpreter between clicks: when there is one, what it is used for, and that nothing of it is left."""

import asyncio
import os
import shutil
import signal
import sys
from pathlib import Path

import pytest
from lsprotocol import types as lsp

from kinetoscope_core.run.standby import Preparation
from kinetoscope_core.runner.request import RunRequest
from kinetoscope_server.runs.standby import PREPARE_AFTER_S, WarmInterpreter
from kinetoscope_server.runs.worker import WorkerProcess

from .test_profiling import ENDLESS, processes_in

pytestmark = [pytest.mark.timeout(180), pytest.mark.whole]  # preparing begins at the start of Python

SCRIPT = """import os
import torch
from torch.profiler import record_function

print("torch was there:", os.environ["WORD"])
for _ in range(10):
    with record_function("step"):
        sum(range(1000))
"""
STAND_IN = Path(__file__).parents[2] / "runner" / "programs" / "fake_torch"


REQUEST = RunRequest("x.py", folder="/", prepares_next=True)
PREPARATION = Preparation(RunRequest("x.py", interpreter=sys.executable), cuda=False, cold_s=1.0).as_dict()


async def profile(client, uri, **others):
    return await client.protocol.send_request_async("kinetoscope/profile", {"uri": uri, **others})


async def until_warm(client, state="ready", within_s=60):
    await client.until(lambda: client.warm and client.warm[-1].state == state, f"warm interpreter: {state}", within_s)
    return client.warm[-1]


def logged(client):
    return "".join(message.message for message in client.log_messages)


@pytest.fixture
def script(start, tmp_path):
    """A client with a script, which finds a stand-in for torch unless `is_real`: that takes 2 s of a core to import.

    Where it `is_held`, what is prepared after a run waits in the import of torch until the file `held` is gone.
    The folder of the stand-in has the name that folders of packages have.
    """
    packages = tmp_path / "site-packages"
    shutil.copytree(STAND_IN, packages)
    for name in ("typing_extensions", "numpy"):  # what torch imports, and what is prepared before it
        (packages / f"{name}.py").touch()
        with (packages / "torch" / "__init__.py").open("a") as torch:
            torch.write(f"import {name}\n")

    async def begin(profile_name="vscode", text=SCRIPT, *, is_real=False, is_held=False, **settings):
        if is_held:
            held = repr(str(begin.held))
            with (packages / "torch" / "__init__.py").open("a") as torch:
                torch.write(f"import os, time\nwhile os.path.exists({held}): time.sleep(0.01)\n")
            text = text.replace("print(", f"open({held}, 'w').close()\nprint(")
        begin.environment = {"WORD": "here"} if is_real else {"WORD": "here", "PYTHONPATH": str(packages)}
        client = await start(profile_name, settings={"environment": begin.environment, **settings})
        uri = client.write("script.py", text)
        client.open(uri)
        return client, uri

    begin.held = tmp_path / "held"
    return begin


async def test_a_second_click_is_answered_by_the_prepared_interpreter(script):
    client, uri = await script(is_real=True)
    assert not client.warm
    assert not processes_in(client.workspace_path), "something was started before it was asked for"
    assert (await profile(client, uri)).how == "measured"
    ready = await until_warm(client)
    assert [notice.state for notice in client.warm] == ["preparing", "ready"]
    assert ready.gpu is False
    assert ready.memory_bytes > 50_000_000
    (prepared,) = processes_in(client.workspace_path)

    assert (await profile(client, uri)).how == "measured"
    assert "in a prepared interpreter" in await client.hover(uri, 6)
    assert (await client.hint_texts(uri))[6].startswith("CPU ")
    assert "does not fit" not in logged(client)
    await client.until(lambda: logged(client).count("torch was there: here") == 2, "the script's output")
    await until_warm(client)
    assert prepared not in processes_in(client.workspace_path), "it runs one script"


async def test_the_setting_off_prepares_nothing_and_drops_what_there_is(script):
    client, uri = await script()
    await profile(client, uri)
    await until_warm(client)
    client.set_configuration(
        {"interpreter": client.interpreter, "environment": script.environment, "prepare": "off"}, section="kinetoscope"
    )
    client.workspace_did_change_configuration(lsp.DidChangeConfigurationParams(settings=None))
    await until_warm(client, "none")
    await client.until(lambda: not processes_in(client.workspace_path), "end of the prepared interpreter")
    assert (await profile(client, uri)).how == "measured"
    await client.until(lambda: not processes_in(client.workspace_path), "end of the script")
    await asyncio.sleep(1.0)
    assert client.warm[-1].state == "none"
    assert not processes_in(client.workspace_path)


async def test_another_environment_starts_cold(script):
    client, uri = await script()
    await profile(client, uri)
    await until_warm(client)
    client.set_configuration(
        {"interpreter": client.interpreter, "environment": script.environment | {"WORD": "there"}},
        section="kinetoscope",
    )
    client.refreshed.clear()
    client.workspace_did_change_configuration(lsp.DidChangeConfigurationParams(settings=None))
    await client.until(lambda: client.refreshed, "that the change was taken in")
    assert (await profile(client, uri)).how == "measured"
    await client.until(lambda: "torch was there: there" in logged(client), "the script's output")
    assert "the run needs another interpreter or environment" in logged(client)


async def test_a_script_that_fails_has_a_warm_interpreter_again_when_it_is_mended(script):
    client, uri = await script()
    await profile(client, uri)
    await until_warm(client)
    path = client.workspace_path / "script.py"
    path.write_text(SCRIPT.replace("for _", "raise ValueError\nfor _"))
    assert (await profile(client, uri)).how == "failed"
    await until_warm(client)
    path.write_text(SCRIPT)
    assert (await profile(client, uri)).how == "measured"
    assert "does not fit" not in logged(client)


async def test_what_failed_in_a_prepared_interpreter_runs_again_without_when_a_person_says_so(script):
    client, uri = await script()
    await profile(client, uri)
    await until_warm(client)
    path, begun = client.workspace_path / "script.py", client.workspace_path / "begun"
    path.write_text(SCRIPT.replace("for _", "open('begun', 'a').write('1')\nraise ValueError\nfor _"))
    client.close(uri)
    client.open(uri)
    answer = await profile(client, uri)
    assert answer.how == "failed"
    assert answer.message.endswith("It began in a prepared interpreter.")
    assert [offer.title for offer in answer.offers] == ["Run again without preparation"]
    assert answer.offers[0].plain
    await client.diagnosed(uri)
    await until_warm(client)
    assert begun.read_text() == "1", "it was run twice by itself"

    command = (await client.code_actions(uri, 7))["Run again without preparation"]["command"]
    await client.execute(command["command"], *command["arguments"])
    assert "ValueError" in (await client.message()).message
    assert begun.read_text() == "11"
    assert not client.asked, "a failure in a new interpreter is no reason for a third one"
    assert "Run again without preparation" not in await client.code_actions(uri, 7)

    await until_warm(client)
    client.answer = "Run again without preparation"  # of the message, this time
    await client.execute("kinetoscope.profileFile", uri)
    assert "ValueError" in (await client.message()).message
    assert begun.read_text() == "1111"
    (asked,) = client.asked
    assert asked.message.endswith("It began in a prepared interpreter.")


async def test_a_script_that_sets_what_was_read_runs_again_cold_and_its_output_appears_once(script):
    text = SCRIPT.replace("import torch\n", "print('before torch', flush=True)\nname = 'OMP_' + 'NUM_THREADS'\n", 1)
    client, uri = await script(text=text.replace("from torch", "import torch\nfrom torch", 1))
    await profile(client, uri)
    await until_warm(client)
    path = client.workspace_path / "script.py"
    path.write_text(path.read_text().replace("import torch\n", "os.environ[name] = '2'\nimport torch\n", 1))
    await client.until(lambda: logged(client).count("before torch") == 1, "the first run's output")
    assert (await profile(client, uri)).how == "measured"
    assert "it sets OMP_NUM_THREADS before it imports torch" in logged(client)
    await client.until(lambda: logged(client).count("before torch") == 2, "the script's output")
    # From now on it starts cold at once, and nothing is prepared for it.
    await profile(client, uri)
    await client.until(lambda: logged(client).count("before torch") == 3, "the script's output")
    assert logged(client).count("begins again") == 1
    assert client.warm[-1].state == "none"


async def test_with_on_open_the_first_click_is_answered_by_a_prepared_interpreter(script):
    client, uri = await script(is_real=True, prepare="onOpen", text=SCRIPT + "open('ran', 'w').close()\n")
    await until_warm(client)
    assert not (client.workspace_path / "ran").exists()
    assert (await profile(client, uri)).how == "measured"
    assert "in a prepared interpreter" in (await client.hover(uri, 6))


async def test_a_script_that_does_more_before_torch_begins_in_a_new_one_and_that_is_said_once(script):
    client, uri = await script(text="open('begun', 'a').write('1')\n" + SCRIPT)
    for _ in range(2):
        assert (await profile(client, uri)).how == "measured"
    assert logged(client).count("open('begun', 'a').write (line 1 of script.py)") == 1
    assert not client.warm
    assert (client.workspace_path / "begun").read_text() == "11"


async def test_the_first_call_is_told_also_where_it_comes_at_once(script):
    client, uri = await script()
    await profile(client, uri)
    await until_warm(client)
    client.progress.clear()
    assert (await profile(client, uri, line=6, name="step")).how == "measured"
    assert "warming up step: 1 call" in [told.phase for told in client.progress]


@pytest.mark.parametrize("which", ["runner", "worker"])
async def test_a_prepared_interpreter_that_was_killed_is_not_missed(script, which):
    client, uri = await script()
    await profile(client, uri)
    await until_warm(client)
    (runner,) = processes_in(client.workspace_path)
    os.kill(runner if which == "runner" else parent_of(runner), signal.SIGKILL)
    await until_warm(client, "none")
    await client.until(lambda: not processes_in(client.workspace_path), "end of the prepared interpreter")
    assert (await profile(client, uri)).how == "measured"
    await until_warm(client)


async def test_one_that_is_killed_while_it_is_prepared_is_prepared_again_after_the_next_run(script):
    client, uri = await script(is_held=True)
    await profile(client, uri)
    scripts_own = set(processes_in(client.workspace_path))
    await until_warm(client, "preparing")
    await client.until(lambda: set(processes_in(client.workspace_path)) - scripts_own, "prepared interpreter")
    for pid in processes_in(client.workspace_path):  # which may not have called yet
        os.kill(pid, signal.SIGKILL)
    await until_warm(client, "none")
    await client.until(lambda: "No interpreter is kept ready for the next run: " in logged(client), "why")
    script.held.unlink()
    await profile(client, uri)
    script.held.unlink()
    await until_warm(client)


async def test_without_packages_that_cannot_be_imported_ahead_torch_still_is(script, tmp_path):
    client, uri = await script(prepared={"packages": ["draws"]})
    (tmp_path / "site-packages" / "draws.py").write_text("import random\nrandom.seed(3)\n")
    for _ in range(2):
        assert (await profile(client, uri)).how == "measured"
        await until_warm(client)
    assert "in a prepared interpreter" in await client.hover(uri, 6)
    told = "draws cannot be imported ahead, as the setting prepared.packages says: importing the packages changes the"
    assert logged(client).count(told) == 1, logged(client)


@pytest.mark.parametrize("when", ["preparing", "ready"])
async def test_nothing_is_left_when_the_server_is_killed(script, when):
    client, uri = await script(is_held=when == "preparing")
    await profile(client, uri)
    await until_warm(client, when)
    await client.until(lambda: processes_in(client.workspace_path), "prepared interpreter")
    client.kill_server()
    await client.until(lambda: not processes_in(client.workspace_path), "end of the prepared interpreter", 10)


async def test_a_click_while_it_is_being_prepared_waits_for_it(script):
    client, uri = await script(is_held=True)
    await profile(client, uri)
    await until_warm(client, "preparing")
    await client.until(lambda: processes_in(client.workspace_path), "prepared interpreter")
    (prepared,) = processes_in(client.workspace_path)
    run = asyncio.ensure_future(profile(client, uri))
    await asyncio.sleep(0.1)
    assert processes_in(client.workspace_path) == [prepared]
    script.held.unlink()
    assert (await run).how == "measured"
    assert "does not fit" not in logged(client)


async def test_a_run_is_cancelled_while_it_waits_for_the_preparing(script):
    client, uri = await script(is_held=True)
    await profile(client, uri)
    await until_warm(client, "preparing")
    client.progress.clear()
    run = asyncio.ensure_future(profile(client, uri))
    await client.until(lambda: client.progress, "run")
    assert await client.execute("kinetoscope.cancel") is True
    assert (await run).how == "cancelled"
    script.held.unlink()
    await until_warm(client)
    assert (await profile(client, uri)).how == "measured"


async def test_two_quick_clicks_are_one_run(script):
    client, uri = await script()
    await profile(client, uri)
    await until_warm(client)
    answers = await asyncio.gather(profile(client, uri), profile(client, uri))
    assert sorted(answer.how for answer in answers) == ["measured", "none"]
    await until_warm(client)
    assert len(processes_in(client.workspace_path)) == 1


async def test_a_cancel_interrupts_a_warm_run(script):
    client, uri = await script(budgetSeconds=600)
    await profile(client, uri)
    await until_warm(client)
    endless = client.write("endless.py", ENDLESS)
    run = asyncio.ensure_future(profile(client, endless))
    await client.until((client.workspace_path / "running").exists, "run")
    assert "does not fit" not in logged(client), logged(client)
    assert await client.execute("kinetoscope.cancel") is True
    assert (await run).how == "cancelled"
    assert (client.workspace_path / "interrupted").exists()


async def test_it_is_given_up_when_it_is_idle_for_long(monkeypatch):
    workers = []

    class Noted(WorkerProcess):
        def __init__(self):
            super().__init__()
            workers.append(self)

        def prepare(self, order):
            self.prepared = asyncio.ensure_future(super().prepare(order))
            return self.prepared

    monkeypatch.setattr("kinetoscope_server.runs.standby.WorkerProcess", Noted)
    states = []
    warm = WarmInterpreter(states.append, print, idle_s=0.5)
    warm.after(REQUEST, {"event": "result", "preparation": PREPARATION})
    while len(states) < 2:  # noqa: ASYNC110 - it has nothing to wait for
        await asyncio.sleep(0.05)
    while states[-1]["state"] != "none":  # noqa: ASYNC110
        await asyncio.sleep(0.05)
    assert warm.worker_for(REQUEST) is None
    for worker in workers:  # else their transports outlive the loop
        await worker.prepared
        assert worker._process is not None
        await worker._process.wait()
    await asyncio.gather(*asyncio.all_tasks() - {asyncio.current_task()})


async def test_a_click_right_after_a_run_starts_a_new_one_and_nothing_is_prepared_beside_it():
    states = []
    warm = WarmInterpreter(states.append, print)
    warm.after(REQUEST, {"event": "result", "preparation": PREPARATION})
    assert warm.worker_for(REQUEST) is None
    await asyncio.sleep(PREPARE_AFTER_S + 0.2)
    assert states == []


async def test_a_script_whose_use_of_cuda_a_prepared_interpreter_cannot_follow_begins_in_a_new_one_from_then_on():
    said = []
    warm = WarmInterpreter(print, said.append)
    failed = {"event": "error", "kind": "RunError", "why_plain": "A process that the script forks uses CUDA"}
    warm.after(REQUEST, failed)
    warm.after(REQUEST, {"event": "result", "preparation": PREPARATION})
    await asyncio.sleep(PREPARE_AFTER_S + 0.2)
    assert warm.worker_for(REQUEST) is None
    assert said == ["The next run will begin in a new interpreter, too: A process that the script forks uses CUDA.\n"]


def parent_of(process):
    with open(f"/proc/{process}/stat") as file:
        return int(file.read().rpartition(")")[2].split()[1])


async def test_more_runs_of_a_prepared_one_are_prepared_and_count_as_its_processes(script):
    client, uri = await script()
    await profile(client, uri)
    await until_warm(client)
    path = client.workspace_path / "script.py"
    path.write_text(path.read_text().replace("1000", "2000"))
    assert (await profile(client, uri)).how == "measured"
    client.close(uri)
    client.open(uri)
    assert "in a prepared interpreter" in await client.hover(uri, 6)
    client.messages.clear()
    await client.execute("kinetoscope.measureMore", uri, 6, "step", 3)
    assert (await client.message()).message.startswith("All 3 runs are stored. ")
    newest, *_, oldest = await client.ask("kinetoscope/runs", {})
    found = await client.ask("kinetoscope/comparison", {"run": newest["id"]})
    assert (found["a"]["runs"], found["b"]["processes"]) == ([oldest["id"]], 4)
    assert "1 run before, 4 runs now" in await client.hover(uri, 6)
