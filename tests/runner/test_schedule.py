"""When the recording starts and when it is full. No profiler, no clock."""

from types import SimpleNamespace

import pytest

from kinetoscope_core.runner.regions.log import Place, RegionLogger
from kinetoscope_core.runner.regions.places import Level
from kinetoscope_core.runner.regions.schedule import MANY_NAMES, PATIENCE, PATIENCE_INSIDE, Schedule
from kinetoscope_core.runner.request import RunRequest, Span


def request(**changes):
    return RunRequest("s.py", **changes)


CODE = compile("", "/s.py", "exec")
HELPER = compile("def helper(): x.__enter__()", "/s.py", "exec").co_consts[0]


class Script:
    """Passes regions as a script would, and says after how many the recording had started and was full."""

    def __init__(self, request, *, comes_again=True):
        self.schedule = Schedule(request)
        self._has_focus = request.has_focus
        self.log = RegionLogger(self._on_enter, self._on_exit)
        self.is_open = False
        self.opened_at = None
        self.passed = 0
        self._comes_again = comes_again

    def passes(self, name, line=1, times=1, inner=None, helper_line=None):
        """Whether the recording is full afterwards."""
        frame = here = SimpleNamespace(f_code=CODE, f_lineno=line, f_back=None, f_locals={})
        if helper_line:
            frame = SimpleNamespace(f_code=HELPER, f_lineno=helper_line, f_back=here, f_locals={})
        for _ in range(times):
            entry = self.log.note_entry(frame, name)
            if inner:
                inner()
            self.log.note_exit(entry, here, None)
            if self.schedule.is_full:
                break
        return self.schedule.is_full

    def _on_enter(self, region, call):
        if not self.is_open and self.schedule.should_start(region, call, lambda: self._comes_again):
            self.is_open, self.opened_at = True, self.passed
        if not self._has_focus:
            self.schedule.note_entry(region)

    def _on_exit(self, region, has_failed):
        self.passed += 1
        if self.is_open:
            self.schedule.note_exit(region, is_inside=self.log.open_calls > 0)


def test_without_a_focus_it_opens_at_once_and_is_full_after_warm_up_and_measured_calls():
    script = Script(request())
    assert script.passes("a", times=1000)
    assert (script.opened_at, script.passed) == (0, 8)


def test_with_a_focus_it_opens_for_the_last_warm_up_call():
    script = Script(request(focus_name="a"))
    script.passes("b", line=2, times=10)
    assert not script.is_open
    assert script.passes("a", times=1000)
    assert (script.opened_at, script.passed) == (12, 18)


@pytest.mark.parametrize(("warmup", "active", "opened", "passed"), [(0, 1, 0, 1), (1, 2, 0, 3), (5, 1, 4, 6)])
def test_a_focus_with_other_numbers(warmup, active, opened, passed):
    script = Script(request(focus_name="a", warmup=warmup, active=active))
    assert script.passes("a", times=1000)
    assert (script.opened_at, script.passed) == (opened, passed)


def test_it_waits_for_all_regions_that_were_seen_and_those_that_are_known():
    script = Script(request(known_places=[Span("/s.py", 1, 3), Span("/s.py", 7, 9)]))
    assert not script.passes("a", line=2, times=20)
    assert script.schedule.describe() == {"complete": 1, "seen": 1, "not_reached": 1}
    assert not script.passes("b", line=8, times=7)
    assert script.passes("b", line=8)


def test_it_does_not_wait_for_ever_for_a_region_that_lags():
    script = Script(request(known_places=[Span("/s.py", 1, 1), Span("/s.py", 9, 9)]))
    assert script.passes("a", times=100_000)
    assert script.passed == PATIENCE * 8
    script = Script(request())
    script.passes("start-up", line=5)
    assert script.passes("a", times=100_000)


def test_each_name_of_a_place_is_waited_for():
    script = Script(request())
    for _ in range(7):
        for layer in range(10):
            assert not script.passes(f"layer_{layer}")
    assert not any(script.passes(f"layer_{layer}") for layer in range(9))
    assert script.passes("layer_9")


def test_numbered_names_do_not_go_on_for_ever():
    script = Script(request())
    assert any(script.passes(f"step_{step}") for step in range(1000))
    assert script.passed == MANY_NAMES


def test_recursion_counts_its_outermost_calls():
    script = Script(request(focus_name="r", warmup=0, active=2))
    inner = lambda: script.passes("r")  # noqa: E731
    assert not script.passes("r", inner=inner)
    assert script.passes("r", inner=inner)


def test_to_the_end_it_is_never_full():
    script = Script(request(to_the_end=True))
    assert not script.passes("a", times=10_000)
    assert script.is_open


def test_a_focus_by_place_takes_every_name_there(tmp_path):
    script = Script(request(focus_places=[Span("/s.py", 4, 6)], warmup=1, active=2))
    assert not script.passes("a", line=1, times=50)
    assert not script.is_open
    assert not any(script.passes(f"layer_{number}", line=5) for number in (0, 1, 0, 1, 0))
    assert script.passes("layer_1", line=5)


def place(file, line):
    return Place(0, [Level(compile("", str(file), "exec"), line, "own")])


def test_spans_are_of_the_same_file_however_it_is_named(tmp_path):
    (tmp_path / "s.py").write_text("")
    (tmp_path / "link.py").symlink_to("s.py")
    schedule = Schedule(request(focus_places=(Span(str(tmp_path / "link.py"), 2, 3),)))

    def is_focus(name, line):
        return schedule.is_focus(SimpleNamespace(name="r", place=place(tmp_path / name, line)))

    assert is_focus("s.py", 3)
    assert not is_focus("s.py", 4)
    assert not is_focus("other.py", 3)


def test_a_focus_on_a_helper_s_line_takes_what_it_enters_for_others():
    script = Script(request(focus_places=[Span("/s.py", 30, 31)], warmup=1, active=1))
    assert not script.passes("a", line=2, helper_line=30)
    assert script.passes("a", line=2, helper_line=30)
    script = Script(request(focus_places=[Span("/s.py", 2, 2)], warmup=0, active=1))
    assert not script.passes("b", line=3, helper_line=30)
    assert script.passes("a", line=2, helper_line=30)


def test_a_focus_that_comes_once_is_open_from_its_only_call_on():
    script = Script(request(focus_name="training"), comes_again=False)
    assert not script.passes("training", inner=lambda: script.passes("step", line=2, times=10))
    assert (script.is_open, script.opened_at) == (True, 0)
    # If more come all the same, they are warm-up and measured as ever.
    assert not script.passes("training", times=6)
    assert script.passes("training")


def test_the_names_of_one_helper_are_waited_for_one_by_one():
    script = Script(request())

    def step():
        script.passes("data", line=1, helper_line=30)
        for _ in range(12):
            script.passes("attention", line=2, helper_line=30)
        return script.passes("backward", line=3, helper_line=30)

    assert not any(step() for _ in range(7))
    assert step()


def test_of_a_helper_a_name_has_to_come_again_before_the_run_can_end():
    script = Script(request(warmup=0, active=1))
    assert not any(script.passes(name, line=2, helper_line=30) for name in ("forward", "backward", "forward"))
    assert script.passes("backward", line=2, helper_line=30)


def test_names_of_a_hook_are_no_numbered_steps():
    script = Script(request())

    def model():
        for layer in range(100):
            script.passes(f"{layer}.attention", line=2, helper_line=30)
            script.passes(f"{layer}.mlp", line=2, helper_line=30)

    passed = [script.passes("model", line=9, inner=model) for _ in range(8)]
    assert passed == [False] * 7 + [True]


def test_numbered_steps_inside_one_call_end_by_patience():
    script = Script(request())
    script.passes("training", line=9, inner=lambda: any(script.passes(f"step_{n}", line=2) for n in range(10_000)))
    assert script.passed == PATIENCE_INSIDE * 8 + 1
