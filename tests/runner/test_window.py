"""When the measured window opens and when it is full. No profiler, no clock."""

import threading

import pytest

from kinetoscope_core.runner.regionlog import NamedRegion, Place
from kinetoscope_core.runner.window import MANY_NAMES, PATIENCE, Plan, Span, Window


def plan(**changes):
    message = {
        "warmup": 3,
        "active": 5,
        "to_the_end": False,
        "budget_s": 20.0,
        "focus_name": "",
        "focus_places": [],
        "known_places": [],
    }
    return Plan(message | changes)


class Script:
    """Passes regions as a script would, and says after how many the window was open and full."""

    def __init__(self, plan):
        self.window = Window(plan)
        self.is_open = False
        self.opened_at = None
        self.passed = 0
        self._regions = {}
        self._places = {}

    def region(self, name, line):
        place = self._places.setdefault(line, Place(len(self._places), "/s.py", line, "f"))
        if (name, line) not in self._regions:
            self._regions[name, line] = place.names[name] = NamedRegion(len(self._regions), place, name)
        return self._regions[name, line]

    def passes(self, name, line=1, times=1, inner=None):
        """Whether the window is full afterwards."""
        for _ in range(times):
            region = self.region(name, line)
            self._enter(region)
            if inner:
                inner()
            self._leave(region)
            if self.window.is_full:
                break
        return self.window.is_full

    def _enter(self, region):
        passage = next(region.entered)
        thread = _thread()
        region.depth[thread] = region.depth.get(thread, 0) + 1
        if not self.is_open and self.window.should_open(region, passage):
            self.is_open, self.opened_at = True, self.passed
        if not self.window.plan.has_focus:
            self.window.note_entry(region)

    def _leave(self, region):
        region.depth[_thread()] -= 1
        region.place.finished += 1
        self.passed += 1
        if self.is_open:
            self.window.note_exit(region)


def _thread():
    return threading.get_native_id()


def test_without_a_focus_it_opens_at_once_and_is_full_after_warm_up_and_measured_passages():
    script = Script(plan())
    assert script.passes("a", times=1000)
    assert (script.opened_at, script.passed) == (0, 8)


def test_with_a_focus_it_opens_for_the_last_warm_up_passage():
    script = Script(plan(focus_name="a"))
    script.passes("b", line=2, times=10)
    assert not script.is_open
    assert script.passes("a", times=1000)
    assert (script.opened_at, script.passed) == (12, 18)


@pytest.mark.parametrize(("warmup", "active", "opened", "passed"), [(0, 1, 0, 1), (1, 2, 0, 3), (5, 1, 4, 6)])
def test_a_focus_with_other_numbers(warmup, active, opened, passed):
    script = Script(plan(focus_name="a", warmup=warmup, active=active))
    assert script.passes("a", times=1000)
    assert (script.opened_at, script.passed) == (opened, passed)


def test_it_waits_for_all_regions_that_were_seen_and_those_that_are_known():
    script = Script(plan(known_places=[("/s.py", 1, 3), ("/s.py", 7, 9)]))
    assert not script.passes("a", line=2, times=20)
    assert script.window.describe() == {"complete": 1, "seen": 1, "not_reached": 1}
    assert not script.passes("b", line=8, times=7)
    assert script.passes("b", line=8)


def test_it_does_not_wait_for_ever_for_a_region_that_lags():
    script = Script(plan(known_places=[("/s.py", 1, 1), ("/s.py", 9, 9)]))
    assert script.passes("a", times=100_000)
    assert script.passed == PATIENCE * 8
    script = Script(plan())
    script.passes("start-up", line=5)
    assert script.passes("a", times=100_000)


def test_each_name_of_a_place_is_waited_for():
    script = Script(plan())
    for _ in range(7):
        for layer in range(10):
            assert not script.passes(f"layer_{layer}")
    assert not any(script.passes(f"layer_{layer}") for layer in range(9))
    assert script.passes("layer_9")


def test_numbered_names_do_not_go_on_for_ever():
    script = Script(plan())
    assert any(script.passes(f"step_{step}") for step in range(1000))
    assert script.passed == MANY_NAMES


def test_recursion_counts_its_outermost_passages():
    script = Script(plan(focus_name="r", warmup=0, active=2))
    inner = lambda: script.passes("r")  # noqa: E731
    assert not script.passes("r", inner=inner)
    assert script.passes("r", inner=inner)


def test_to_the_end_it_is_never_full():
    script = Script(plan(to_the_end=True))
    assert not script.passes("a", times=10_000)
    assert script.is_open


def test_a_focus_by_place_takes_every_name_there(tmp_path):
    script = Script(plan(focus_places=[("/s.py", 4, 6)], warmup=1, active=2))
    assert not script.passes("a", line=1, times=50)
    assert not script.is_open
    assert not any(script.passes(f"layer_{number}", line=5) for number in (0, 1, 0, 1, 0))
    assert script.passes("layer_1", line=5)


def test_spans_are_of_the_same_file_however_it_is_named(tmp_path):
    (tmp_path / "s.py").write_text("")
    (tmp_path / "link.py").symlink_to("s.py")
    span = Span(str(tmp_path / "link.py"), 2, 3)
    assert span.holds(Place(0, str(tmp_path / "s.py"), 3, "f"))
    assert not span.holds(Place(0, str(tmp_path / "s.py"), 4, "f"))
    assert not span.holds(Place(0, str(tmp_path / "other.py"), 3, "f"))
