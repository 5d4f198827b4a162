"""Texts that would end the process or keep it for minutes. In a process of their own: a crash is no exception."""

import subprocess
import sys
import time

import pytest

from kinetoscope_core.source.regions import Edit, SourceRegions, find_regions
from kinetoscope_core.source.syntax.tree import Chunk

HEAD = "from torch.profiler import record_function\n"
REGION = 'with record_function("a"): pass\n'


def nested(levels: int, line: str = "if 1:\n", indent: str = " ") -> str:
    return "".join(indent * level + line for level in range(levels))


TEXTS = {
    "520 blocks": nested(520) + " " * 520 + REGION,
    "520 blocks of tabs": nested(520, indent="\t") + "\t" * 520 + REGION,
    "520 blocks inside brackets": "x = [\n" + nested(520) + "]\n",
    "520 classes": nested(520, "class A:\n") + REGION,
    "520 blocks with backslashes": nested(520, "if 1:\\\n") + REGION,
    "520 blocks behind carriage returns": nested(520, "if 1:\r") + REGION,
    "520 blocks of a width beyond 16 bits": (" " * 65_700 + "if 1:\n") * 520,
    "300 blocks, and strings in strings": nested(299) + " " * 299 + "x = " + "f'{f\"{" * 300 + "\n",
    "lines that go in and out": "".join(" " * (n * 7919 % 2_000) + "if (1:\n" for n in range(2_000)),
    "100,000 brackets": "x = " + "(" * 100_000 + "\n",
    "100,000 operators": "x = " + "1+" * 100_000 + "1\n",
    "50,000 branches": "if 1: pass\n" + "elif 1: pass\n" * 50_000,
    "100,000 attributes": "x = a" + ".b()" * 100_000 + "\n",
    "20,000 strings in strings": "x = " + "f'{" * 20_000 + "\n",
}


@pytest.mark.parametrize("what", TEXTS)
def test_no_text_ends_the_process(what: str) -> None:
    program = (
        "from kinetoscope_core.source.regions import find_regions; print(len(find_regions(sys.stdin.buffer.read())))"
    )
    text = f"{HEAD}{TEXTS[what]}{REGION}".encode()
    done = subprocess.run(
        [sys.executable, "-c", f"import sys; {program}"], input=text, capture_output=True, timeout=300, check=False
    )
    assert (done.returncode, done.stderr) == (0, b"")
    assert int(done.stdout) >= 0


def test_a_region_in_a_hundred_blocks_is_found() -> None:
    assert len(find_regions(HEAD + nested(99) + " " * 99 + REGION)) == 1


def test_what_stands_beside_blocks_that_are_too_deep_is_found() -> None:
    regions = find_regions(HEAD + nested(520) + " " * 520 + "pass\n" + REGION + "def f():\n    " + REGION)
    assert [region.line for region in regions] == [523, 525]


@pytest.mark.parametrize("line", ["x = [" + "1, " * 100_000 + "]", 's = """' + "a" * 100_000, 'x = "' + "b#(" * 50_000])
def test_a_very_long_line_is_left_alone_and_what_stands_beside_it_is_found(line: str) -> None:
    piece = f"{line}\n".encode()
    assert len(Chunk(piece).text) < 100
    end = '"""' if '"""' in line else ""
    source = SourceRegions(f"{HEAD}{line}\n{end}\ndef f():\n    {REGION}")
    assert [region.line for region in source.regions] == [5]
    source.apply([Edit(len(HEAD) + 50_000, len(HEAD) + 50_000, "c")])
    assert [region.line for region in source.regions] == [5]


def test_a_line_of_a_megabyte_takes_no_longer_than_as_much_in_short_lines() -> None:
    def seconds(text: str) -> float:
        begin = time.process_time()
        find_regions(text)
        return time.process_time() - begin

    assert seconds("x = [" + "1, " * 300_000 + "]\n") < seconds(("x = [" + "1, " * 20 + "]\n") * 15_000)


@pytest.mark.parametrize(
    ("before", "each", "after"),
    [
        ("", "# a comment\n", REGION),
        ("def f():\n", "    # a comment\n", "    " + REGION),
        ("x = 1 + ", " \\\n", "1\n"),
        ("x = ", "record_function(", "\n"),
        ("x = a", ".record_function('a')", "\n"),
    ],
)
def test_four_times_the_text_takes_four_times_as_long(before: str, each: str, after: str) -> None:
    """Without limits it took sixteen times as long: of 1,000 to 4,000."""

    def seconds(count: int) -> float:
        text = f"{HEAD}{before}{each * count}{after}"
        begin = time.process_time()
        find_regions(text)
        return time.process_time() - begin

    assert seconds(4_000) < 9 * max(seconds(1_000), 0.05)
