"""Scripts that enter no region: the phases of their steps, from what torch enters itself."""

import json
from pathlib import Path

import pytest

from .conftest import line_of


def phases(ran):
    return {each["name"]: each for each in ran.result["contents"]["phases"]}


def test_the_phases_of_a_loop_lie_between_its_operators_and_its_own_clock(kinetoscope, tmp_path):
    times = tmp_path / "times.json"
    ran = kinetoscope("no_region_loop.py", times, "60")
    assert ran.code == 0, ran
    result = ran.result
    assert ran.problems >= {"no-region"}
    assert result["run"]["was_ended_early"]
    steps = result["contents"]["steps"]
    assert (steps["count"], steps["known_by"]) == (5, "ProfilerStep")
    assert {each["calls"] for name, each in phases(ran).items() if name != "everything else"} <= {8, 9}
    trace = json.loads(Path(result["traces"][0]).read_bytes())
    base = trace["baseTimeNanoseconds"]
    slices = [
        (base + round(each["ts"] * 1000), round(each["dur"] * 1000), each["name"])
        for each in trace["traceEvents"]
        if each.get("cat") in ("cpu_op", "user_annotation")
    ]
    measured = [(start, start + ns) for start, ns, name in slices if name in {f"ProfilerStep#{n}" for n in range(3, 8)}]
    assert len(measured) == 5
    own = json.loads(times.read_text())
    for name in ("data loading", "forward", "backward", "optimizer step"):
        windows = [each for each in own[name] if any(start <= each[0] and each[1] <= end for start, end in measured)]
        windows += [(start, end) for start, end in own[name] if any(start < at < end for at, _ in measured)]
        windows = sorted(set(map(tuple, windows)))
        of_script = sum(end - start for start, end in windows)
        of_operators, until = 0, 0
        for start, ns, operator in sorted(slices):
            inside = any(begin <= start and start + ns <= end for begin, end in windows)
            if inside and start >= until and not operator.startswith("ProfilerStep"):
                of_operators, until = of_operators + ns, start + ns
        found = phases(ran)[name]["cpu_per_step_ns"]["sum"]
        assert of_operators - 20_000 <= found <= of_script, (name, of_operators, found, of_script)
    assert phases(ran)["data loading"]["cpu_per_step_ns"]["min"] >= 8_000_000  # it sleeps so long for eight samples
    assert phases(ran)["everything else"]["cpu_per_step_ns"]["min"] >= 5_000_000
    assert sum(each["cpu_per_step_ns"]["sum"] for each in phases(ran).values()) == steps["took_ns"]["sum"]


@pytest.mark.parametrize(
    ("kind", "times", "steps", "known_by", "calls"),
    [
        ("no loader", 20, 5, "ProfilerStep", {"forward": 8, "backward": 8, "optimizer step": 8}),
        ("no loader", 2, 2, "ProfilerStep", {"forward": 2, "backward": 2, "optimizer step": 2}),
        ("inference", 20, 5, "ProfilerStep", {"data loading": 8, "forward": 8}),
        (
            "accumulation",
            60,
            5,
            "ProfilerStep",
            {"data loading": 24, "forward": 24, "backward": 24, "optimizer step": 8},
        ),
    ],
)
def test_steps_of_each_kind(kinetoscope, kind, times, steps, known_by, calls):
    ran = kinetoscope("no_region_kinds.py", kind, str(times))
    assert ran.code == 0, ran
    assert ran.result["run"]["was_ended_early"] == (b"done" not in ran.script_output)
    found = ran.result["contents"]["steps"]
    assert (found["count"], found["known_by"]) == (steps, known_by)
    assert {name: phases(ran)[name]["calls"] for name in calls} == calls


def test_a_region_that_comes_after_all_is_measured_as_ever(kinetoscope):
    ran = kinetoscope("no_region_kinds.py", "hidden region", "20")
    assert ran.code == 0, ran
    assert ran.counts() == {"hidden": (8, 5)}
    assert ran.result["contents"] is None
    assert ran.regions()["hidden"]["parent"] is None  # the step that was open has ended
    assert "no-region" not in ran.problems


def test_a_helper_that_could_make_regions_and_does_not_leaves_the_steps(kinetoscope):
    ran = kinetoscope("unused_helper.py")
    assert ran.code == 0, ran
    assert ran.result["run"]["was_ended_early"]
    assert ran.result["contents"]["steps"]["count"] == 20 * 8 - 3  # its regions were waited for


def test_a_script_s_own_profiler_outside_every_region_is_shown(kinetoscope, tmp_path):
    ran = kinetoscope("no_region_kinds.py", "own profiler", "6", tmp_path / "own.json")
    assert ran.code == 0, ran
    assert ran.result["run"]["has_own_profiler"]
    assert phases(ran)["backward"]["calls"] == 6
    assert b"done" in ran.script_output


def test_stacks_that_a_script_s_own_profiler_asks_for_say_which_function_called_it(kinetoscope, tmp_path):
    ran = kinetoscope("no_region_kinds.py", "own profiler with stacks", "6", tmp_path / "own.json")
    assert ran.code == 0, ran
    (linear,) = [each for each in ran.result["contents"]["operators"] if each["name"] == "aten::linear"]
    (caller,) = linear["callers"]
    assert (caller["function"], caller["file"], caller["count"]) == ("train", "no_region_kinds.py", 6)
    assert caller["line"] == line_of("no_region_kinds.py", "def train(")


def test_a_profiler_of_the_script_that_starts_later_has_no_steps_of_ours(kinetoscope):
    ran = kinetoscope("no_region_kinds.py", "profiler later", "20")
    assert ran.code == 0, ran
    assert ran.script_output.endswith(b"[]\ndone\n")


def test_to_the_end_all_steps_are_measured(kinetoscope):
    ran = kinetoscope("no_region_kinds.py", "no loader", "20", options=["--to-the-end"])
    assert ran.code == 0, ran
    assert ran.result["contents"]["steps"]["count"] == 17
    assert b"done" in ran.script_output


def test_what_is_shown_says_what_to_add(kinetoscope):
    ran = kinetoscope("no_region_kinds.py", "no loader", "20", as_json=False)
    assert ran.code == 0, ran
    shown = ran.stdout.decode()
    assert "Phase of 5 steps" in shown
    assert "Measure this block" in shown
    assert "No record_function region of yours ran" in ran.messages
