"""Modules of a file without regions, as the plain client gets them: the lens, the times, the way from an error."""

import pytest
from lsprotocol import types as lsp

MODEL = """import torch
from torch import nn


class MLP(nn.Module):
    def __init__(self):
        super().__init__()
        self.up = nn.Linear(8, 8)

    def forward(self, x):
        return self.up(x)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList([MLP() for _ in range(3)])
        self.head = nn.Sequential(nn.Linear(8, 8), nn.GELU())

    def forward(self, x):
        for layer in self.layers:
            x = layer(x)
        return self.head(x)


if __name__ == "__main__":
    net = Net()
    for _ in range(12):
        net(torch.zeros(4, 8))
"""


def row_of(text):
    return next(row for row, line in enumerate(MODEL.splitlines()) if text in line)


MLP_FORWARD = row_of("def forward")
LAYERS, HEAD, MADE = row_of("self.layers = "), row_of("self.head = "), row_of("net = Net()")
NET_FORWARD = row_of("for layer in") - 1


async def measured(client, text=MODEL):
    uri = client.write("net.py", text)
    client.open(uri)
    answer = await client.ask("kinetoscope/profile", {"uri": uri, "modules": {}})
    assert answer["how"] == "measured", answer
    return uri


async def lens_texts_at(client, uri, row):
    return [text for at, text in await client.lenses(uri) if at == row]


@pytest.mark.parametrize("profile", ["minimal", "vscode"])
async def test_a_class_has_one_lens_and_one_that_another_makes_a_short_one(start, profile):
    client = await start(profile)
    uri = client.write("net.py", MODEL)
    client.open(uri)
    assert await lens_texts_at(client, uri, row_of("class MLP")) == ["▷"]
    assert await lens_texts_at(client, uri, row_of("class Net")) == ["▷ Profile modules"]


async def test_times_stand_where_modules_are_made_and_at_their_forward_and_are_told_once(start):
    client = await start()
    uri = await measured(client)
    hints = await client.hint_texts(uri)
    assert set(hints) == {row_of("self.up ="), MLP_FORWARD, LAYERS, HEAD, NET_FORWARD, MADE}
    assert hints[LAYERS].startswith("layers.* ×3 CPU ")
    assert hints[MLP_FORWARD].startswith("layers.* ×3 CPU ")
    assert hints[HEAD].startswith("CPU ")
    assert all(len(text) <= 43 for text in hints.values())
    lenses = await client.lenses(uri)
    rows = {row for row, _ in lenses}
    assert rows == {row_of("class MLP"), row_of("class Net"), row_of("if __name__")}
    assert "net.py, with modules · " in " ".join(text for _, text in lenses)
    found = [each.range.start.line for each in await client.diagnosed(uri)]
    assert len([row for row in found if row in (MLP_FORWARD, NET_FORWARD)]) == 0
    assert max(found.count(row) for row in found) <= 2
    # One line made the head and what is in it: the hover lists that.
    hover = await client.hover(uri, HEAD, 10)
    assert "**head** · Sequential" in hover
    assert "head.0" in hover
    assert "head.1" in hover
    hover = await client.hover(uri, MLP_FORWARD, 10)
    assert "slowest: layers." in hover
    assert "**layers.\\*** · 3 names · MLP" in hover


async def test_times_follow_edits_and_a_changed_forward_is_stale(start):
    client = await start()
    uri = await measured(client)
    client.replace(uri, 2, (0, 0), (0, 0), "# above\n")
    hints = await client.hint_texts(uri)
    assert hints[MLP_FORWARD + 1].startswith("layers.* ×3 CPU ")
    client.replace(uri, 3, (MLP_FORWARD + 2, 15), (MLP_FORWARD + 2, 15), "0 + ")
    hints = await client.hint_texts(uri)
    assert hints[MLP_FORWARD + 1].startswith("~ ")
    assert not hints[LAYERS + 1].startswith("~ ")


async def test_a_click_repeats_the_run_with_modules_and_without_them_is_another_command(start):
    client = await start()
    uri = await measured(client)
    tooltips = await client.tooltips(uri)
    assert "(with modules)" in tooltips[row_of("if __name__"), "▷ Profile file"]
    answer = await client.ask("kinetoscope/profile", {"uri": uri})
    run = await client.ask("kinetoscope/run", {"run": answer["run"], "uri": None})
    assert run["run"]["modules"] == {"depth": None, "classes": []}
    assert run["title"] == "net.py, with modules"
    limited = await client.ask("kinetoscope/profile", {"uri": uri, "modules": {"depth": 0, "classes": []}})
    run = await client.ask("kinetoscope/run", {"run": limited["run"], "uri": None})
    assert run["run"]["modules"] == {"depth": 0, "classes": []}
    assert [each["measures"]["name"] for each in run["regions"] if each["measures"]["origin"] == "module"] == ["Net"]


@pytest.mark.parametrize("profile", ["minimal", "vscode"])
async def test_where_no_region_ran_one_answer_measures_the_modules(start, profile):
    client = await start(profile)
    uri = client.write("net.py", MODEL)
    client.open(uri)
    client.answer = "Profile modules"
    await client.execute("kinetoscope.profileFile", uri)
    await client.until(lambda: client.asked, "a question")
    assert client.asked[0].message.startswith("No record_function region ran")
    assert [each.title for each in client.asked[0].actions] == ["Profile modules"]
    message = await client.message()
    assert message.message.startswith("Measured "), message


async def test_the_error_that_no_region_ran_has_a_code_action(start):
    client = await start("minimal")
    # It names what can mark steps, so it is watched for these, and has none.
    uri = client.write("net.py", f"import torch.optim\n{MODEL}")
    client.open(uri)
    await client.execute("kinetoscope.profileFile", uri)
    await client.diagnosed(uri)
    action = (await client.code_actions(uri, 0))["Profile modules"]
    await client.execute(action["command"]["command"], *action["command"]["arguments"])
    message = await client.message()
    while not message.message.startswith("Measured "):
        message = await client.message()


async def test_after_a_run_with_modules_the_file_offers_both(start):
    client = await start()
    start_of_loop = "    for _ in range(12):\n"
    with_region = "        with torch.profiler.record_function('step'):\n            net(torch.zeros(4, 8))\n"
    uri = await measured(client, MODEL[: MODEL.index(start_of_loop)] + start_of_loop + with_region)
    guard = row_of("if __name__")
    assert {"▷ Profile file", "without modules"} <= set(await lens_texts_at(client, uri, guard))
    again = await client.ask("kinetoscope/profile", {"uri": uri})
    run = await client.ask("kinetoscope/run", {"run": again["run"], "uri": None})
    assert run["run"]["modules"] is not None
    await client.run_lens(uri, "without modules")
    while not (message := await client.message()).message.startswith("step: "):
        assert message.type != lsp.MessageType.Error, message
    assert set(await client.hint_texts(uri)) == {row_of("for _ in range(12)") + 1}
    lenses = await lens_texts_at(client, uri, guard)
    assert "▷ Profile file" in lenses
    assert "without modules" not in lenses


@pytest.mark.whole
async def test_a_run_in_a_prepared_interpreter_has_the_same_modules(start):
    client = await start()
    uri = await measured(client)
    hints = await client.hint_texts(uri)
    await client.until(lambda: client.warm and client.warm[-1].state == "ready", "prepared interpreter", 90)
    answer = await client.ask("kinetoscope/profile", {"uri": uri})
    run = await client.ask("kinetoscope/run", {"run": answer["run"], "uri": None})
    assert run["run"]["is_prepared"]
    assert set(await client.hint_texts(uri)) == set(hints)
