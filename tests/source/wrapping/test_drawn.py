"""Some draws of wrapping_property.py; KINETOSCOPE_WRAPS sets how many."""

import os
import random

import pytest

from .wrapping_property import RUFF, draw, formatted, not_as_ruff_leaves_them, sources

COUNT = int(os.environ.get("KINETOSCOPE_WRAPS", "20"))


def files(number: int, seed: int, largest: int) -> list[tuple[str, bytes]]:
    small = [path for path in sources() if path.stat().st_size < largest]
    return [(str(path), path.read_bytes()) for path in random.Random(seed).sample(small, number)]


@pytest.mark.timeout(120 + COUNT)
@pytest.mark.parametrize("how", ["block", "function", "loop"])
def test_drawn_code_of_others_is_the_same_but_for_a_region_and_again_to_the_byte_without_it(how):
    largest = 10_000 if COUNT < 100 else 1_000_000
    count = COUNT if how == "block" else COUNT // 3
    _, _, wrong = draw(how, count, 1, files(5 * COUNT, 1, largest))
    assert not wrong, "\n".join(wrong)


@pytest.mark.skipif(not RUFF.exists(), reason="ruff is not in this environment (make test-pythons)")
def test_what_ruff_leaves_as_it_is_it_leaves_so_with_a_region():
    done, _, wrong = draw("block", 100, 1, formatted(files(60, 2, 8_000)), is_compared=False)
    count, changes = not_as_ruff_leaves_them(done)
    assert not [*wrong, *changes], "\n".join([*wrong, *changes])
    assert count > 20
