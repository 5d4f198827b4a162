"""docs/editors.md says nothing to the server that it does not know."""

import json
import re
import sys
from pathlib import Path

from kinetoscope_server.protocol import methods
from kinetoscope_server.settings.settings import read_settings

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

PAGE = (Path(__file__).parents[2] / "docs" / "editors.md").read_text(encoding="utf-8")


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)


def test_its_commands_are_those_of_the_server():
    named = set(re.findall(r"kinetoscope\.([a-z]\w+)\b(?!\])", PAGE)) - {"config"}
    named |= set(re.findall(r"\bcommand\('(\w+)'", PAGE))
    assert named
    assert {f"kinetoscope.{name}" for name in named} <= set(methods.COMMANDS)
    assert set(re.findall(r"'(kinetoscope/\w+)'", PAGE)) <= {*methods.REQUESTS, *methods.NOTIFICATIONS}


def test_its_settings_are_taken_as_they_are_written():
    helix = tomllib.loads(blocks("toml")[0])["language-server"]["kinetoscope"]["config"]["kinetoscope"]
    zed = json.loads(blocks("json")[0])["lsp"]["pylsp"]["initialization_options"]["kinetoscope"]
    for settings in (helix, zed):
        assert settings
        assert read_settings(settings)[1] == []
    emacs = dict.fromkeys(re.findall(r":(\w+) ", re.search(r":kinetoscope \((.*?)\)", blocks("elisp")[0])[1]), 3)
    assert emacs
    assert read_settings(emacs)[1] == []


def test_every_table_of_toml_is_one():
    for text in blocks("toml"):
        assert tomllib.loads(text)
