"""docs/lsp.md names what there is, and nothing else."""

import re
from pathlib import Path

from kinetoscope_core.runner.request import RunRequest
from kinetoscope_server.features import commands, requests, standard
from kinetoscope_server.protocol import methods
from kinetoscope_server.server import KinetoscopeServer
from kinetoscope_server.settings.settings import SEVERITIES, read_settings

PAGE = (Path(__file__).parents[2] / "docs" / "lsp.md").read_text(encoding="utf-8")


def test_commands_requests_and_notifications_are_those_of_the_code():
    named = set(re.findall(r"`(kinetoscope[./]\w+)`", PAGE))
    assert named == {*methods.COMMANDS, *methods.REQUESTS, *methods.NOTIFICATIONS}


async def test_every_command_is_announced_and_every_method_of_ours_answered():
    server = KinetoscopeServer()
    standard.register(server)
    commands.register(server)
    requests.register(server)
    assert set(server.protocol.fm.commands) == set(methods.COMMANDS)
    assert set(methods.REQUESTS) - set(methods.TO_CLIENTS) <= set(server.protocol.fm.features)


def test_settings_and_their_defaults_are_those_of_the_code():
    _, (message,) = read_settings({"no": 1})
    names = set(message.partition("settings ")[2].removesuffix(").").split(", "))
    section = PAGE.partition("## Settings")[2].partition("## Diagnostics")[0]
    rows = dict(re.findall(r"^\| `(\w+)` \| `?(.*?)`? \|", section, re.MULTILINE))
    assert set(rows) == names
    defaults = RunRequest("")
    assert (rows["warmupCalls"], rows["measuredCalls"]) == (str(defaults.warmup), str(defaults.active))
    assert float(rows["budgetSeconds"]) == defaults.budget_s
    settings, wrong = read_settings(dict.fromkeys(names))
    assert not wrong
    assert rows["perfetto"].strip('"') == settings.perfetto
    assert rows["hints"].strip('"') == settings.hints
    assert rows["prepare"].strip('"') == settings.prepare
    _, (message,) = read_settings({"howFilesAreRun": [{"no": 1}]})
    for name in message.partition("settings ")[2].removesuffix(").").split(", "):
        assert f"`{name}`" in section


def test_codes_and_their_severities_are_those_of_the_code():
    section = PAGE.partition("## Diagnostics")[2].partition("## Edits")[0]
    found = {
        code: severity
        for codes, severity in re.findall(r"^\| (`.*?`) \| (\w+) \|", section, re.MULTILINE)
        for code in re.findall(r"`(.*?)`", codes)
    }
    assert found == SEVERITIES
