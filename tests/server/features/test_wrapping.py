"""Refactorings that put a region around code and take it out again, as an editor gets them."""

from kinetoscope_core.source.regions import LineEdit, SourceRegions

TEXT = """import torch


def train(model, loader, optimizer):
    for batch in loader:
        loss = model("😀", batch)
        loss.backward()
        optimizer.step()


def numbers():
    yield 1
"""
REFACTOR = ["refactor"]


def opened(client, text=TEXT):
    uri = client.write("train.py", text)
    client.open(uri)
    return uri


def applied(text, action, encoding):
    """The text after the one edit of an action: all changes are in places of the text as it was."""
    ((_, changes),) = action["edit"]["changes"].items()
    places = [(change["range"]["start"], change["range"]["end"], change["newText"]) for change in changes]
    source = SourceRegions(text)
    for start, end, new in reversed(places):
        source.apply([LineEdit((start["line"], start["character"]), (end["line"], end["character"]), new)], encoding)
    return source.data.decode()


async def test_selected_lines_are_measured_and_the_region_removed_in_one_edit_each(start):
    for profile, encoding in (("vscode", "utf-16"), ("minimal", "utf-8")):
        client = await start(profile)
        uri = opened(client)
        offered = await client.code_actions(uri, 5, only=REFACTOR, last=7)
        assert list(offered) == ["Measure this block"]
        action = offered["Measure this block"]
        assert action["kind"] == "refactor.rewrite.block"
        assert ("edit" in action) == (profile == "minimal")
        text = applied(TEXT, await client.chosen(action), encoding)
        assert text.startswith("import torch\nfrom torch.profiler import record_function\n")
        assert '        with record_function("train_step"):\n            loss = model("😀", batch)\n' in text

        client.replace(uri, 2, (0, 0), (99, 0), text)
        offered = await client.code_actions(uri, 6, only=REFACTOR)
        action = await client.chosen(offered["Remove the region: train_step"])
        assert applied(text, action, encoding) == TEXT


async def test_each_is_offered_where_it_applies_and_nothing_by_itself_at_a_cursor(start):
    client = await start()
    uri = opened(client)
    assert list(await client.code_actions(uri, 3, only=REFACTOR)) == ["Measure this function"]
    assert list(await client.code_actions(uri, 4, only=REFACTOR)) == ["Measure this block", "Measure the loop body"]
    assert list(await client.code_actions(uri, 5, only=["refactor.rewrite.block"])) == ["Measure this block"]
    assert not await client.code_actions(uri, 4)
    assert not await client.code_actions(uri, 8, only=REFACTOR)
    assert not await client.code_actions(uri, 4, only=["quickfix"])
    assert list(await client.code_actions(uri, 5, last=6)) == ["Measure this block"]


async def test_what_cannot_be_measured_is_told_to_clients_that_show_it(start):
    client = await start()
    uri = opened(client)
    (action,) = (await client.code_actions(uri, 4, only=REFACTOR, last=5)).values()
    assert action["disabled"]["reason"] == "The selection cuts a statement. Select whole statements of one block."
    (action,) = (await client.code_actions(uri, 10, only=REFACTOR)).values()
    assert "yields" in action["disabled"]["reason"]

    plain = await start("minimal")
    uri = opened(plain)
    assert not await plain.code_actions(uri, 4, only=REFACTOR, last=5)


async def test_files_without_torch_are_left_in_peace(start):
    client = await start()
    uri = opened(client, "import os\n\nos.remove(x)\n")
    assert not await client.code_actions(uri, 2, only=REFACTOR)


async def test_an_action_of_a_text_that_has_changed_since_has_no_edit(start):
    client = await start()
    uri = opened(client)
    action = (await client.code_actions(uri, 6, only=REFACTOR))["Measure this block"]
    client.replace(uri, 2, (6, 0), (7, 0), "\n")
    assert "edit" not in await client.chosen(action)
