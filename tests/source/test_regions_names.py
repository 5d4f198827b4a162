"""The names of regions: exact where the source tells them, patterns where it does not."""

import warnings

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kinetoscope_core.source.regions import NamePattern, Region, find_regions

IMPORT = "from torch.profiler import record_function\n"


def region(expression: str, before: str = "") -> Region:
    (found,) = find_regions(f"{IMPORT}{before}\nwith record_function({expression}):\n    pass\n")
    return found


@pytest.mark.parametrize(
    "expression",
    [
        '"plain"',
        "'single'",
        '""',
        '"""three"""',
        '"""two\nlines"""',
        "'''it's'''",
        '"one" "two"',
        '"one" \'two\' r"\\three"',
        '("in" " brackets")',
        '("line"\n   # why\n   "break")',
        r'"tab\t nl\n nul\0 octal\101 hex\x41 u\u00e9 U\U0001F600 N\N{BULLET} q\" b\\"',
        r'"unknown \d \w"',
        r'r"raw\n\x41\""',
        r"R'raw'",
        "u'old'",
        '"line\\\ncontinued"',
        '"é 😀 \u2028"',
        "f'no gaps'",
        "f'{{braces}}'",
        "fr'{{\\d}}'",
        "'a' + 'b' + 'c'",
        "'100%' + f'{{}}'",
        "'%s' % 'x'",
        "'%s-%s' % ('x', 'y')",
        "'100%% %s' % 'x'",
        "'{}'.format('x')",
        "'{1}{0}{k}'.format('x', 'y', k='z')",
        "'{{}}'.format()",
        "f'{\"nested\"}'",
        "(n := 'walrus')",
        "name='by keyword'",
        "args=None, name='by keyword'",
        "'with args', 'args'",
        "'trailing comma',",
    ],
)
def test_a_name_the_source_tells_is_exactly_python_s(expression: str):
    with warnings.catch_warnings():
        # Python warns of unknown escapes and keeps them.
        warnings.simplefilter("ignore")
        expected = eval(f"(lambda name, args=None: name)({expression})")  # noqa: S307
    assert region(expression).is_exact
    assert region(expression).name == expected
    assert region(expression).matches(expected)
    assert not region(expression).matches(expected + "x")


@pytest.mark.parametrize(
    ("expression", "shown"),
    [
        ("f'layer_{i}'", "layer_{…}"),
        ("f'{a}{b}'", "{…}"),
        ("f'{a}.{b}'", "{…}.{…}"),
        ("f'{i:03d}-{j!r}'", "{…}-{…}"),
        ("f'{i=}'", "{…}"),
        ("f'{{{i}}}'", "{{…}}"),
        ("f'a' 'b{c}' f'{d}'", "ab{c}{…}"),
        ("rf'\\n{i}'", "\\n{…}"),
        ("'layer_' + str(i)", "layer_{…}"),
        ("prefix + '.forward'", "{…}.forward"),
        ("'a' + b + 'c' + d", "a{…}c{…}"),
        ("'layer_%d' % i", "layer_{…}"),
        ("'%s/%02d.%s' % (a, b, 'c')", "{…}/{…}.c"),
        ("'%(a)s_%%' % x", "{…}_%"),
        ("'%*d|' % (w, i)", "{…}|"),
        ("'%s' % (*a,)", "{…}"),
        ("'50% of %s' % x", "50{…}f {…}"),
        ("'%y' % x", "{…}"),
        ("'layer_{}'.format(i)", "layer_{…}"),
        ("'{0.x}_{a[1]}_{:>3}'.format(i)", "{…}_{…}_{…}"),
        ("'{'.format(i)", "{…}"),
        ("'{}{}'.format(*a)", "{…}"),
        ("name", "{…}"),
        ("self.name", "{…}"),
        ("names[0]", "{…}"),
        ("make()", "{…}"),
        ("'a' if x else 'b'", "{…}"),
        ("'a' * 3", "{…}"),
        ("b'bytes'", "{…}"),
        ("'a' b'bytes'", "a{…}"),
        (r"'\N{NO SUCH NAME}'", "{…}"),
        (r"'\U00110000'", "{…}"),
        ("lambda: 'x'", "{…}"),
        ("*names", "{…}"),
        ("**names", "{…}"),
        ("x for x in y", "{…}"),
        ("'+'.join(names)", "{…}"),
    ],
)
def test_what_the_source_does_not_tell_is_a_gap(expression: str, shown: str):
    assert region(expression).name == shown
    assert not region(expression).is_exact


def test_a_call_without_a_name_is_no_region():
    assert find_regions(f"{IMPORT}with record_function(): pass\nwith record_function(args='x'): pass\n") == []


@pytest.mark.parametrize(
    ("before", "expression", "shown", "is_exact"),
    [
        ("NAME = 'const'", "NAME", "const", True),
        ("NAME: str = 'const'", "NAME", "const", True),
        ("NAME = 'const'", "f'{NAME}_{i}'", "const_{…}", False),
        ("NAME = 'const'", "NAME + '_x'", "const_x", True),
        ("NAME = f'a{x}'", "NAME", "a{…}", False),
        ("A = 'a'\nB = A + 'b'", "B", "ab", True),
        ("A = B = 'ab'", "A", "ab", True),
        ("NAME = 'a'\nNAME = 'b'", "NAME", "b", True),
        ("NAME = 'a'\nif x: NAME = 'b'", "NAME", "{…}", False),
        ("NAME = 'a'\nNAME += 'b'", "NAME", "{…}", False),
        ("NAME = 'a'\ndef f():\n  global NAME\n  NAME = 'b'", "NAME", "{…}", False),
        ("for NAME in 'ab': pass", "NAME", "{…}", False),
        ("NAME = 5", "NAME", "{…}", False),
        ("from x import NAME", "NAME", "{…}", False),
        ("A = B\nB = A", "A", "{…}", False),
        ("A = A + 'a'", "A", "{…}a", False),
    ],
)
def test_a_constant_assigned_once_is_put_in(before: str, expression: str, shown: str, is_exact: bool):
    found = region(expression, before)
    assert (found.name, found.is_exact) == (shown, is_exact)


def test_a_constant_that_changes_later_is_a_gap_inside_functions():
    source = f"{IMPORT}N = 'a'\ndef f():\n  with record_function(N): pass\nN = 'b'\n"
    assert [found.name for found in find_regions(source)] == ["{…}"]


def test_a_parameter_hides_a_constant():
    source = (
        f"{IMPORT}N = 'a'\ndef f(N='b'):\n  with record_function(N): pass\ndef g():\n  with record_function(N): pass\n"
    )
    assert [found.name for found in find_regions(source)] == ["{…}", "a"]


def test_a_local_constant_is_put_in():
    source = (
        f"{IMPORT}def f():\n  n = 'a'\n  with record_function(n): pass\n  n = 'b'\n  with record_function(n): pass\n"
    )
    assert [found.name for found in find_regions(source)] == ["a", "b"]


def test_a_sum_of_thousands_of_terms_is_read():
    assert region(" + ".join(["'x'"] * 3000)).name == "x" * 3000


def test_brackets_nested_hundreds_deep_are_a_gap():
    assert region("(" * 400 + "'x'" + ")" * 400).name == "{…}"


@pytest.mark.parametrize(
    ("expression", "fits", "does_not"),
    [
        ("f'layer_{i}'", ["layer_0", "layer_", "layer_a\nb"], ["layer", "xlayer_0", ""]),
        ("f'{i}_end'", ["_end", "a_end_end"], ["end", "_end "]),
        ("f'a{i}a'", ["aa", "aba"], ["a", "ab"]),
        ("f'{a}x{b}y{c}'", ["xy", "1x2y3", "yxy"], ["yx", "x"]),
        ("f'{a}.{b}.{c}.end'", ["a.b.c.end"], ["a.b.end"]),
        ("name", ["", "anything"], []),
        ("'{…}'", ["{…}"], ["x"]),
    ],
)
def test_a_pattern_matches_what_its_gaps_can_hold(expression: str, fits: list[str], does_not: list[str]):
    found = region(expression)
    assert [name for name in fits if not found.matches(name)] == []
    assert [name for name in does_not if found.matches(name)] == []


@given(
    st.lists(st.one_of(st.none(), st.text("ab", max_size=3)), max_size=6),
    st.lists(st.text("ab", max_size=3), min_size=6),
)
def test_a_pattern_matches_whatever_its_gaps_are_filled_with(parts: list[str | None], fills: list[str]):
    name = "".join(fill if part is None else part for part, fill in zip(parts, fills, strict=False))
    assert NamePattern.of(parts).matches(name)
