"""What a person is asked: which script runs a module, and what else a file can be run with. Tests run with pytest."""

import pytest

pytestmark = pytest.mark.timeout(120)

MODEL = """import torch
from torch.profiler import record_function


def forward(x):
    with record_function("forward"):
        return x + 1
"""
TRAIN = """import sys
import torch
from model import forward

print("ran with", *sys.argv)
for _ in range(10):
    forward(torch.ones(2))
"""
TESTS = """import torch
from torch.profiler import record_function
from model import forward


def helped(x):
    with record_function("helped"):
        return forward(x)


def test_other():
    print("the other test")


def test_forward():
    for _ in range(10):
        with record_function("tested"):
            helped(torch.ones(2))
"""
WANTS = """import torch
from torch.profiler import record_function

parser = argparse.ArgumentParser()
parser.add_argument("--data", required=True)
parser.add_argument("--epochs", required=True)
parser.parse_args()
for _ in range(8):
    with record_function("work"):
        torch.ones(2)
"""


def labels(params):
    return [each.label for each in params.choices]


def picks(text):
    """Answers a question with the choice of that label."""
    return lambda params: {"choice": labels(params).index(text)}


def logged(client):
    return "".join(each.message for each in client.log_messages)


@pytest.fixture
def project(start):
    """A module, a script and tests that import it, and one file that does not."""

    async def begin(profile="vscode", **settings):
        client = await start(profile, settings=settings)
        for name, text in {"train.py": TRAIN, "test_model.py": TESTS, "other.py": "print(1)\n"}.items():
            client.write(name, text)
        uri = client.write("model.py", MODEL)
        client.open(uri)
        return client, uri

    return begin


@pytest.mark.parametrize("profile", ["vscode", "minimal"])
async def test_a_module_asks_which_script_runs_it_once(project, profile):
    client, uri = await project(profile)
    assert (await client.tooltips(uri))[5, "▷ Profile"] == "Measure this region: asks which script runs this file"
    client.answer, client.on_choose = "train.py", picks("train.py")
    await client.run_lens(uri, "▷ Profile")
    assert (await client.message()).message.startswith("forward: CPU")
    if profile == "vscode":
        (asked,) = client.asked_to_choose
        assert asked.question == "model.py only defines functions and classes. Which script runs it?"
        assert labels(asked) == ["train.py", "-m pytest test_model.py", "model.py"] or labels(asked) == [
            "-m pytest test_model.py", "train.py", "model.py",
        ]  # fmt: skip
        assert [each[0].title for each in client.progress_reports.values()] == [
            "Profiling forward in model.py, running train.py"
        ]
    else:
        (asked,) = client.asked
        assert {each.title for each in asked.actions} == {"train.py", "-m pytest test_model.py", "model.py"}

    client.asked.clear()
    client.asked_to_choose.clear()
    await client.execute("kinetoscope.clear", uri, None, None)
    await client.run_lens(uri, "▷ Profile")
    assert "forward: CPU" in (await client.message()).message
    assert not client.asked
    assert not client.asked_to_choose


@pytest.mark.parametrize("profile", ["vscode", "minimal"])
async def test_without_an_answer_nothing_runs(project, profile):
    client, uri = await project(profile)
    answer = await client.ask("kinetoscope/profile", {"uri": uri})
    assert answer == {"how": "none", "message": "", "run": None, "offers": []}
    assert "ran with" not in logged(client)


async def test_what_was_run_last_and_imports_the_module_is_offered_first(project):
    client, uri = await project()
    later = client.write("zz.py", TRAIN)
    await client.execute("kinetoscope.profileWithArguments", later, None, ["--size", "3"])
    await client.message()
    await client.execute("kinetoscope.clear", uri, None, None)
    client.on_choose = picks("zz.py --size 3")
    await client.run_lens(uri, "▷ Profile")
    assert "forward: CPU" in (await client.message()).message
    (asked,) = client.asked_to_choose
    assert labels(asked)[0] == "zz.py --size 3"
    assert asked.choices[0].why == "was run, imports model.py"


async def test_settings_that_name_a_script_ask_nothing(project):
    client, uri = await project(howFilesAreRun=[{"files": "model.py", "script": "train.py", "arguments": ["--set"]}])
    assert (await client.tooltips(uri))[5, "▷ Profile"].endswith("python train.py --set")
    await client.run_lens(uri, "▷ Profile")
    assert "forward: CPU" in (await client.message()).message
    assert not client.asked_to_choose


async def test_profile_with_offers_what_was_run_and_takes_what_was_typed(project):
    client, uri = await project()
    train = (client.workspace_path / "train.py").as_uri()
    for size in ("1", "2"):
        await client.execute("kinetoscope.profileWithArguments", train, None, ["--size", size])
        await client.message()

    client.on_choose = picks("train.py --size 1")
    await client.execute("kinetoscope.profileWith", uri, 5, "forward")
    await client.message()
    asked = client.asked_to_choose[-1]
    assert labels(asked)[:2] == ["train.py --size 2", "train.py --size 1"]
    assert asked.command.arguments == ["--size", "2"]
    assert logged(client).rstrip().endswith("train.py --size 1")

    client.on_choose = lambda _: {"command": {"arguments": ["--typed"], "environment": {"WORD": "x"}}}
    answer = await client.ask("kinetoscope/profile", {"uri": uri, "choose": "arguments"})
    assert answer["how"] == "measured"
    assert client.asked_to_choose[-1].what == "arguments"
    assert client.asked_to_choose[-1].command.arguments == ["--size", "1"], "of what gave the times"
    assert logged(client).rstrip().endswith("train.py --typed")
    assert (await client.tooltips(uri))[5, "▷ Profile"].endswith("python train.py --typed (with WORD)")

    command = {"script": "zz.py", "arguments": ["--named"]}
    client.write("zz.py", TRAIN)
    answer = await client.ask("kinetoscope/profile", {"uri": uri, "command": command})
    assert answer["how"] == "measured"
    assert logged(client).rstrip().endswith("zz.py --named")
    for wrong in ({"command": {"arguments": "--size"}}, {"command": {"environment": {"A": 1}}}):
        assert (await client.ask("kinetoscope/profile", {"uri": uri, **wrong}))["how"] == "failed"


@pytest.mark.parametrize("profile", ["vscode", "minimal"])
async def test_arguments_that_have_a_name_are_offered_by_it_until_it_is_forgotten(project, profile):
    client, _ = await project(profile)
    train = (client.workspace_path / "train.py").as_uri()
    for size in ("1", "2"):
        await client.execute("kinetoscope.profileWithArguments", train, None, ["--size", size])
        await client.message()

    async def offered() -> list[str]:
        client.on_choose = client.answer = lambda _: None
        await client.ask("kinetoscope/profile", {"uri": train, "choose": "run"})
        if profile == "vscode":
            return labels(client.asked_to_choose[-1])
        return [each.title for each in client.asked[-1].actions]

    await client.execute("kinetoscope.nameArguments", train, " small ", ["--size", "1"])
    await client.execute("kinetoscope.nameArguments", train, "large", ["--size", "4096"])
    assert await offered() == [
        "train.py --size 2", "large: train.py --size 4096", "small: train.py --size 1", "train.py",
    ]  # fmt: skip
    if profile == "vscode":
        given = [(each.name, each.arguments) for each in client.asked_to_choose[-1].choices]
        assert given[1:] == [("large", ["--size", "4096"]), ("small", ["--size", "1"]), (None, [])]

    client.on_choose, client.answer = picks("large: train.py --size 4096"), "large: train.py --size 4096"
    assert (await client.ask("kinetoscope/profile", {"uri": train, "choose": "run"}))["how"] == "measured"
    assert logged(client).rstrip().endswith("train.py --size 4096")
    assert (await offered())[0] == "large: train.py --size 4096", "as last time, under its name"

    await client.execute("kinetoscope.nameArguments", train, "small", ["--size", "8"])
    assert "small: train.py --size 8" in await offered()
    await client.execute("kinetoscope.nameArguments", train, "large", None)
    assert (await offered())[0] == "train.py --size 4096"
    other = client.write("other.py", "import torch\n")
    await client.execute("kinetoscope.nameArguments", other, "", ["--size", "8"])
    assert "Give the arguments a name." in (await client.message()).message
    assert sorted(each.name for each in client.workspace_path.iterdir() if each.suffix == ".json") == []


async def test_a_test_file_runs_with_pytest_and_a_region_with_its_own_test(project):
    client, _ = await project()
    uri = (client.workspace_path / "test_model.py").as_uri()
    client.open(uri)
    tooltips = await client.tooltips(uri)
    assert tooltips[16, "▷ Profile"].endswith("python -m pytest test_model.py::test_forward")
    assert tooltips[6, "▷ Profile"].endswith("python -m pytest test_model.py")
    await client.run_lens(uri, "▷ Profile", 16)
    assert (await client.message()).message.startswith("tested: CPU")
    assert "test_model.py::test_forward\n" in logged(client)
    assert "failed" not in logged(client)

    assert (await client.tooltips(uri))[6, "▷ Profile"].endswith("python -m pytest test_model.py")
    await client.run_lens(uri, "▷ Profile file")
    assert "Measured 3 regions in 2 files" in (await client.message()).message
    assert not client.asked_to_choose


async def test_what_is_not_reached_can_be_run_otherwise_at_once(project):
    client, uri = await project("minimal")
    client.answer = "model.py"
    await client.run_lens(uri, "▷ Profile")
    await client.until(lambda: len(client.asked) == 2, "offer")
    assert client.asked[1].message.startswith("model.py never entered the region at model.py:6.")
    assert [each.title for each in client.asked[1].actions] == ["Choose script…"]

    client.asked.clear()
    client.answer = "Choose script…"
    await client.execute("kinetoscope.profileFile", uri)
    await client.until(lambda: client.asked, "question: the script that reached nothing is not taken again")
    assert client.asked[0].message.endswith("Which script runs it?")


async def test_tests_that_were_run_as_a_script_are_run_with_pytest(project):
    client, _ = await project()
    uri = (client.workspace_path / "test_model.py").as_uri()
    client.open(uri)
    asked = {"uri": uri, "line": 16, "name": "tested"}
    answer = await client.ask("kinetoscope/profile", {**asked, "command": {"script": "test_model.py"}})
    assert answer["how"] == "nothing"
    assert answer["message"].startswith("test_model.py never entered the region at test_model.py:17. Run its tests")
    assert [each["title"] for each in answer["offers"]] == ["Run with pytest", "Choose script…"]
    again = await client.ask("kinetoscope/profile", {**asked, **answer["offers"][0]})
    assert again["how"] == "measured"


async def test_arguments_that_argparse_misses_are_named_and_can_be_given(project):
    client, _ = await project()
    uri = client.write("wants.py", "import argparse\n" + WANTS)
    client.open(uri)
    answer = await client.ask("kinetoscope/profile", {"uri": uri})
    assert answer["how"] == "failed"
    assert answer["message"] == "wants.py: arguments required: --data, --epochs."
    (offer,) = answer["offers"]
    client.on_choose = lambda _: {"command": {"arguments": ["--data", "x", "--epochs", "1"]}}
    again = await client.ask("kinetoscope/profile", {"uri": uri, **offer})
    assert again["how"] == "measured"
