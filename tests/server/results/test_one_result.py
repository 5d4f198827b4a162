"""A file shows one result, says which, and lets one choose another: over the protocol, with real runs."""

import re

import pytest

pytestmark = pytest.mark.timeout(240)

LOOP = """import sys
import torch
from torch.profiler import record_function

def main(layers, size):
    x = torch.ones(size, size)
    for _ in range(9):
        for i in range(layers):
            with record_function(f"layer {i}"):
                x = x + 1

if __name__ == "__main__":
    main(int(sys.argv[2]), int(sys.argv[4]))
"""
SMALL, LARGE = (["--layers", "6", "--size", "64"], ["--layers", "2", "--size", "256"])


async def profiled(client, uri, arguments):
    await client.execute("kinetoscope.profileWithArguments", uri, None, arguments)
    message = await client.message()
    assert message.message.startswith(("layer N: CPU ", "Measured 2 regions.")), message


async def result_lens(client, uri):
    """The row and the title of the lens that says which result is shown."""
    (found,) = [each for each in await client.lenses(uri) if "loop.py" in each[1]]
    return found


async def test_a_file_shows_the_newest_result_and_says_so_and_another_one_can_be_chosen(start):
    client = await start("minimal")
    uri = client.write("loop.py", LOOP)
    client.open(uri)
    await profiled(client, uri, SMALL)
    row, title = await result_lens(client, uri)
    assert row == 8
    assert re.fullmatch(r"loop\.py --layers 6 --size 64 · \d\d:\d\d · CPU only", title)

    await profiled(client, uri, LARGE)
    assert "×2 " in (await client.hint_texts(uri))[8]
    _, title = await result_lens(client, uri)
    assert re.fullmatch(r"loop\.py --layers 2 --size 256 · \d\d:\d\d · CPU only · 1 of 2 results", title)
    assert "6 names" not in await client.hover(uri, 8)
    large, small = await client.ask("kinetoscope/resultsOf", {"uri": uri})
    assert [large["title"], small["title"]] == ["loop.py --layers 2 --size 256", "loop.py --layers 6 --size 64"]
    assert [large["is_shown"], small["is_shown"]] == [True, False]

    client.answer = f"loop.py --layers 6 --size 64 · {small['when']} · CPU only"
    await client.run_lens(uri, title)
    await client.until_lenses(uri, lambda lenses: any("2 of 2 results" in title for _, title in lenses))
    (question,) = client.asked
    assert question.message.startswith("loop.py shows loop.py --layers 2 --size 256 · ")
    assert [each.title for each in question.actions] == [client.answer]
    assert "×6 " in (await client.hint_texts(uri))[8]
    assert "--layers 6 --size 64" in await client.hover(uri, 8)
    assert (await client.ask("kinetoscope/run", {"uri": uri}))["id"] == small["run"]

    await client.execute("kinetoscope.clear", uri, None, None)
    assert await client.hints(uri) == []
    assert await client.ask("kinetoscope/resultsOf", {"uri": uri}) == []
    await client.execute("kinetoscope.showResult", None, large["run"])
    assert "×2 " in (await client.hint_texts(uri))[8]
    await client.execute("kinetoscope.showResult", uri, "20200101-000000-aaaaaa")
    assert (await client.message()).message == "The run 20200101-000000-aaaaaa is no longer stored."


MODEL = """from torch.profiler import record_function

def forward(x):
    with record_function("forward"):
        return x + 1

def backward(x):
    with record_function("backward"):
        return x + 2
"""
SCRIPT = """import torch
import model

for _ in range(9):
    model.{what}(torch.ones(4))
"""


async def test_lines_of_another_scripts_run_say_where_they_are_from(start):
    client = await start()
    uri = client.write("model.py", MODEL)
    scripts = [client.write(f"{name}.py", SCRIPT.format(what=what)) for name, what in
               [("train", "backward"), ("infer", "forward")]]  # fmt: skip
    client.open(uri)
    for script in scripts:
        assert (await client.ask("kinetoscope/profile", {"uri": script}))["how"] == "measured"
    await client.until(lambda: len(client.results[uri].regions) == 2, "both")
    assert {each.name: each.origin for each in client.results[uri].regions} == {
        "forward": "", "backward": "from train.py",
    }  # fmt: skip
    texts = await client.hint_texts(uri)
    assert "from" not in texts[3]
    assert texts[7].endswith(" · from train.py")
    hover = await client.hover(uri, 7)
    assert hover.startswith("*From train.py: the result that this file shows has no times here.*")
    assert "python train.py" in hover
    assert (3, "infer.py · ") in [(row, title[:11]) for row, title in await client.lenses(uri)]
