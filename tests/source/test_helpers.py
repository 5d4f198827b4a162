"""Regions behind helpers of other files: what a text imports and enters, and where that stands."""

import pytest

from kinetoscope_core.source.regions import (
    Helpers,
    Import,
    SourceRegions,
    helped_statements,
    helpers_of,
    imports_entered,
)

HELPERS = """from contextlib import contextmanager
from torch.profiler import record_function
import functools

@contextmanager
def section(name):
    with record_function(name):
        yield

def timed(function):
    @functools.wraps(function)
    def wrapper(*args):
        with record_function(function.__name__):
            return function(*args)
    return wrapper

def other(): pass
"""


def test_what_a_text_offers_others():
    assert helpers_of(SourceRegions(HELPERS)) == Helpers(frozenset({b"section"}), frozenset({b"timed"}))
    assert helpers_of(SourceRegions("def section(): pass\n")) == Helpers()


@pytest.mark.parametrize(
    ("imports", "entered", "found"),
    [
        ("from lib.marks import section", "with section('a'):", [("lib.marks", b"section", b"section")]),
        ("from .marks import (other,\n    section as s,  # why\n)", "with s('a'):", [(".marks", b"section", b"s")]),
        ("import lib.marks as m", "with m.section('a'):", [("lib.marks", None, b"m")]),
        ("import lib.marks, os", "async with lib.marks.section('a'):", [("lib.marks", None, b"lib.marks")]),
        ("from lib.marks import timed", "@timed\ndef f():", [("lib.marks", b"timed", b"timed")]),
        ("from lib.marks import section", "section('a'); x = [\n1]; del x\nif x:", []),
        ("text = '''\nfrom lib.marks import section\n'''", "with section('a'):", []),
    ],
)
def test_what_is_imported_and_entered(imports, entered, found):
    names = imports_entered(SourceRegions(f"{imports}\n{entered}\n    pass\n"))
    module_itself = [each for each in names if each.name is None and each.module.endswith((".section", ".timed"))]
    assert [each for each in names if each not in module_itself] == [Import(*each) for each in found]


def test_a_module_that_is_imported_by_name_may_hold_helpers():
    text = "from lib import marks\nwith marks.section('a'):\n    pass\n"
    assert Import("lib.marks", None, b"marks") in imports_entered(SourceRegions(text))


def test_what_is_imported_is_found_where_it_is_entered():
    text = "from lib import *\nwith s('a'):\n    pass\n\n@m.timed\ndef f(): pass\n\n@timed\ndef g(): pass\n"
    imported = Helpers(frozenset({b"s"}), frozenset({b"m.timed"}))
    assert [region.line for region in helped_statements(SourceRegions(text), imported)] == [2, 5]
    assert helped_statements(SourceRegions(text)) == []
