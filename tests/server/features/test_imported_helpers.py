"""Lenses where a helper of another file is entered: one that is open, or on disk where Python would look for it."""

from tests.source.test_helpers import HELPERS

TRAIN = """import torch
from lib.marks import section, timed


@timed
def step():
    with section("forward"):
        torch.ones(2) + 1


for _ in range(10):
    step()
"""
BOTH = {TRAIN.splitlines().index("@timed"), TRAIN.splitlines().index('    with section("forward"):')}


async def rows(client, uri):
    return {row for row, title in await client.lenses(uri) if title.startswith("▷") and title != "▷ Profile file"}


def lib(client, folder="lib"):
    (client.workspace_path / folder).mkdir(parents=True)
    return client.write(f"{folder}/marks.py", HELPERS)


async def test_of_a_file_beside_and_of_how_it_reads_while_it_is_open(start):
    client = await start()
    uri = client.write("train.py", TRAIN)
    client.open(uri)
    assert await rows(client, uri) == set()
    marks = lib(client)
    assert await rows(client, uri) == BOTH
    client.open(marks, HELPERS.replace("section", "part"))
    assert await rows(client, uri) == {min(BOTH)}
    client.replace(marks, 2, (5, 4), (5, 8), "section")
    assert await rows(client, uri) == BOTH


async def test_of_an_open_file_in_another_folder(start):
    client = await start()
    uri = client.write("train.py", TRAIN)
    client.open(uri)
    marks = lib(client, "src/lib")
    assert await rows(client, uri) == set()
    client.open(marks)
    assert await rows(client, uri) == BOTH


async def test_of_a_relative_import_and_of_none_beyond_its_package(start):
    client = await start()
    lib(client, "package")
    lib(client, "lib")
    inside = client.write("package/train.py", TRAIN.replace("lib.marks", ".marks"))
    client.open(inside)
    assert await rows(client, inside) == BOTH
    other = client.write("package/other.py", TRAIN.replace("lib.marks", "..marks"))
    client.open(other)
    assert await rows(client, other) == set()


async def test_what_is_measured_there_is_the_helper_s_region_at_that_line(start):
    client = await start()
    lib(client)
    uri = client.write("train.py", TRAIN)
    client.open(uri)
    answer = await client.ask("kinetoscope/profile", {"uri": uri, "region": {"row": max(BOTH), "name": ""}})
    assert answer["how"] == "measured", answer
    assert (await client.hint_texts(uri))[max(BOTH)].startswith("CPU ")
