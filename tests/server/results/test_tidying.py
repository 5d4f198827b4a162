"""Garbage is collected in pauses, and what is left is not looked at again on a keystroke."""

import asyncio
import gc
import time
import weakref
from collections.abc import Iterator

import pytest

from kinetoscope_server.protocol import garbage


class Knot:
    """Garbage that counting references does not find."""

    def __init__(self) -> None:
        self.itself = self


@pytest.fixture(autouse=True)
def _as_it_was() -> Iterator[None]:
    gc.disable()
    yield
    gc.unfreeze()
    gc.enable()


async def gone(knot: "weakref.ref[Knot]", within_s: float = 20) -> None:
    begun = time.monotonic()
    while knot() is not None:
        assert time.monotonic() - begun < within_s
        await asyncio.sleep(0.01)


async def test_once_nothing_happens_garbage_goes_and_the_rest_is_set_aside():
    knot = weakref.ref(Knot())
    garbage.Tidying().soon()
    assert knot() is not None
    await gone(knot)
    assert gc.get_freeze_count() > 0


async def test_what_was_set_aside_before_is_looked_at_again():
    kept = [Knot()]
    knot = weakref.ref(kept[0])
    gc.freeze()
    kept.clear()
    gc.collect()
    assert knot() is not None
    garbage.Tidying().soon()
    await gone(knot)


async def test_it_waits_while_the_user_types_and_is_not_begun_by_that():
    knot = weakref.ref(Knot())
    idle, busy = garbage.Tidying(), garbage.Tidying()
    idle.put_off()
    busy.soon()
    begun = time.monotonic()
    while time.monotonic() - begun < 2 * garbage.AFTER_S:
        typed = time.monotonic()
        busy.put_off()
        await asyncio.sleep(0.01)
        if time.monotonic() - typed > garbage.AFTER_S / 2:
            pytest.skip("this machine stood still for longer than the pause that is waited for")
        assert knot() is not None
    await gone(knot)
