"""One thing has one word: what goes from entering to leaving a region is a call, as in torch's "# of Calls"."""

import ast
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[1]
OTHER_WORDS = re.compile(r"passage|occurrence", re.IGNORECASE)
# Truths that another program wrote, with its words, and who reads them; code that is not ours.
EXCEPT = ("tests/traces/", "tests/trace/test_trace_truth.py", "tests/test_words.py", "package-lock.json")

NOT_IN_TEXTS = re.compile(
    r"\b(adopted|stepped aside|told|mended|rooms|as it comes|wings|tidying|troubles|device activit(y|ies))\b",
    re.IGNORECASE,
)
"""Words for which people who read a page or a message know others: said or shown, folder, GPU activity and so on."""


def listed(*patterns: str) -> list[str]:
    names = subprocess.run(["git", "ls-files", "-z", *patterns], cwd=ROOT, check=True, capture_output=True, text=True)  # noqa: S607
    return [name for name in names.stdout.split("\0") if name and (ROOT / name).is_file()]


def test_a_call_of_a_region_has_no_other_name():
    names = [name for name in listed() if not name.startswith(EXCEPT)]
    assert len(names) > 400
    texts = {name: (ROOT / name).read_bytes().decode("utf-8", "replace") for name in names}
    assert {name for name, text in texts.items() if OTHER_WORDS.search(name + text)} == set()


def test_pages_and_settings_have_the_words_that_readers_know():
    names = listed("*.md", "package.json", "extension/src/*.ts")
    assert len(names) > 50
    found = {name: NOT_IN_TEXTS.findall((ROOT / name).read_text(encoding="utf-8")) for name in names}
    assert {name: words for name, words in found.items() if words} == {}


def test_messages_have_the_words_that_readers_know():
    names = listed("profiler_core/*.py", "server/*.py")
    assert len(names) > 150
    texts = [(name, text) for name in names for text in texts_of(ast.parse((ROOT / name).read_text(encoding="utf-8")))]
    assert len(texts) > 500
    assert [(name, text) for name, text in texts if NOT_IN_TEXTS.search(text)] == []


def texts_of(module: ast.Module) -> Iterator[str]:
    """The strings of a module that are several words and no docstrings, those of f-strings too."""
    docstrings = {id(each.value) for each in ast.walk(module) if isinstance(each, ast.Expr)}
    for each in ast.walk(module):
        is_text = isinstance(each, ast.Constant) and isinstance(each.value, str) and " " in each.value.strip()
        if is_text and id(each) not in docstrings:
            yield each.value
