"""Regions of modules: which there are, what they are called, where they stand; and that the script sees none of it."""

import json
from pathlib import Path

import pytest

from .conftest import SCRIPTS, line_of

SCRIPT = "modules.py"
MADE = "nn.ModuleList([Block()"
LAYERS = {f"layers.{number}": (24, 15) for number in (1, 2)}


def ran_with(kinetoscope, what, *options, code=0):
    ran = kinetoscope(SCRIPT, what, options=["--modules", *options])
    assert ran.code == code, ran
    assert b"Traceback" not in ran.script_output
    return ran


def modules_of(ran):
    return {each["name"]: each for each in ran.result["regions"] if each["origin"] == "module"}


def test_each_module_is_a_region_named_from_the_outermost_one_down(kinetoscope):
    ran = ran_with(kinetoscope, "plain")
    found = modules_of(ran)
    blocks = {f"layers.{n}{part}" for n in range(3) for part in ("", ".inner", ".inner.linear", ".norm")}
    assert found.keys() == {"Net", "tail", "tail.0", "tail.1", "tail.2", *blocks}
    assert {name: found[name]["calls"] for name in ("Net", "layers.0", "layers.1")} == {
        "Net": 8,
        "layers.0": 16,
        "layers.1": 8,
    }
    assert found["Net"]["measured"] == 5
    where = {name: each["line"] for name, each in found.items()}
    assert where["Net"] == line_of(SCRIPT, "def plain") + 1
    assert where["layers.2"] == line_of(SCRIPT, MADE)
    assert where["layers.2.inner"] == line_of(SCRIPT, "self.inner = Inner()")
    assert where["layers.2.inner.linear"] == line_of(SCRIPT, "self.linear = ")
    assert where["tail.2"] == line_of(SCRIPT, "self.tail = ")
    inner = found["layers.1.inner"]["module"]
    forward = {"file": str(SCRIPTS / SCRIPT), "line": line_of(SCRIPT, "self.linear = ") + 2}
    assert inner == {"class_name": "Inner", **forward, "is_compiled": False}
    assert found["tail.0"]["module"]["file"] is None


def test_layers_of_one_line_and_class_are_one_row(kinetoscope):
    groups = {each["name"]: each for each in ran_with(kinetoscope, "plain").result["groups"]}
    layers = {"layers.*", "layers.*.inner", "layers.*.inner.linear", "layers.*.norm"}
    assert groups.keys() == {*layers, "tail.* (Linear)"}  # of ReLU there is one
    assert (groups["layers.*"]["names"], groups["tail.* (Linear)"]["names"]) == (3, 2)
    assert groups["layers.*"]["parent"]["name"] == "Net"
    assert groups["layers.*.inner"]["parent"]["name"] == "layers.*"
    assert groups["layers.*"]["slowest"] in ("layers.0", "layers.1", "layers.2")
    assert groups["layers.*"]["measured"] == 23  # three warm-up calls of each, of 16, 8 and 8


def test_a_part_that_is_called_by_itself_goes_by_its_name_in_the_whole(kinetoscope):
    found = modules_of(ran_with(kinetoscope, "parts"))
    assert "Block" not in found
    assert found["layers.1"]["calls"] >= 15


def test_a_module_that_calls_itself_counts_its_time_once(kinetoscope):
    (region,) = modules_of(ran_with(kinetoscope, "recursive")).values()
    assert region["name"] == "Recursive"
    assert region["calls"] % 3 == 0
    assert region["measured"] == region["calls"] // 3 - 1


def test_what_raises_is_told_and_closed(kinetoscope):
    found = modules_of(ran_with(kinetoscope, "failing"))
    fails = next(each for each in found.values() if each["module"]["class_name"] == "Fails")
    assert (fails["exception"], fails["is_raised"]) == ("ValueError", True)
    whole = next(each for each in found.values() if each["module"]["class_name"] == "Sequential" and each["raised"])
    assert whole["exception"] == "ValueError"
    net = next(each for each in found.values() if each["module"]["class_name"] == "Net")
    assert net["raised"] == 0


def test_an_exception_that_is_handled_around_a_module_is_not_its_own(kinetoscope):
    found = modules_of(ran_with(kinetoscope, "handled"))
    assert all(each["raised"] == 0 for each in found.values())


def test_what_ends_without_a_hook_is_closed_with_what_is_around(kinetoscope):
    found = modules_of(ran_with(kinetoscope, "interrupted"))
    assert {name: (each["calls"], each["unfinished"]) for name, each in found.items()} == {
        "Around": (8, 0),
        "stops": (8, 0),
    }


def test_threads_have_their_own_calls(kinetoscope):
    found = modules_of(ran_with(kinetoscope, "threads", "--to-the-end"))
    assert found["Net"]["breakdown"]["threads"] == 2
    assert found["layers.1.norm"]["calls"] == 24


@pytest.mark.parametrize(
    ("choice", "names"),
    [
        ("depth=0", {"Net"}),
        ("depth=1", {"Net", "layers.0", "layers.1", "layers.2", "tail"}),
        ("Inner,ReLU", {"layers.0.inner", "layers.1.inner", "layers.2.inner", "tail.1"}),
    ],
)
def test_depth_and_classes_can_be_chosen(kinetoscope, choice, names):
    ran = ran_with(kinetoscope, "plain", choice)
    assert modules_of(ran).keys() == names
    assert "modules-left-out" not in ran.problems  # that is what was asked for


def test_of_a_large_model_so_many_are_measured_as_can_be_read(kinetoscope):
    ran = ran_with(kinetoscope, "deep")
    assert len(modules_of(ran)) == 1 + 5 + 25
    (problem,) = (each for each in ran.result["problems"] if each["code"] == "modules-left-out")
    assert problem["evidence"] == {"modules": 125 + 625, "depth": 2}
    assert "--modules depth=3" in problem["message"]


def test_a_class_that_was_not_called_is_said_with_those_that_were(kinetoscope):
    ran = ran_with(kinetoscope, "plain", "Blok", code=3)
    assert "No module of class Blok was called." in ran.messages
    assert "Block, Inner, LayerNorm, Linear, Net" in ran.messages


def test_a_script_without_modules_says_so(kinetoscope):
    assert "called no module" in ran_with(kinetoscope, "none", code=3).messages


def test_the_user_s_regions_stay_beside_them(kinetoscope):
    ran = ran_with(kinetoscope, "marked")
    regions = {each["name"]: each for each in ran.result["regions"]}
    assert (regions["step"]["origin"], regions["step"]["module"]) == ("user", None)
    assert regions["Net"]["parent"]["name"] == "step"


def test_models_that_come_and_go_keep_their_names(kinetoscope):
    found = modules_of(ran_with(kinetoscope, "collected"))
    assert {each["module"]["class_name"] for name, each in found.items() if "." not in name and not name.isdigit()} == {
        "Net",
        "Sequential",
    } | {found["tail"]["module"]["class_name"]}


@pytest.mark.whole
@pytest.mark.parametrize(("what", "number"), [((), 12), (("compile",), 7)], ids=["eager", "compiled"])
def test_outputs_gradients_graphs_and_all_else_are_the_same(kinetoscope, what, number):
    plain = kinetoscope.python("modules_same.py", *what)
    ours = kinetoscope("modules_same.py", *what, options=["--modules", "--to-the-end"])
    wanted = [*plain.stdout.splitlines(), *plain.stderr.splitlines()]
    assert len(wanted) == number, plain
    assert sorted(ours.script_output.splitlines()) == sorted(wanted)
    assert len(modules_of(ours)) > 3


def test_a_torch_that_does_not_tell_what_is_compiled_is_left_alone(kinetoscope, tmp_path):
    script = tmp_path / "new_torch.py"
    script.write_text(
        "import sys, importlib.abc, torch\n"
        "class Newer:\n"
        "    def find_spec(self, name, path=None, target=None):\n"
        "        if name != 'torch._dynamo.eval_frame':\n"
        "            return None\n"
        "        from importlib.machinery import ModuleSpec\n"
        "        return ModuleSpec(name, self)\n"
        "    def create_module(self, spec):\n"
        "        return None\n"
        "    def exec_module(self, module):\n"
        "        pass\n"
        "model = torch.nn.Linear(2, 2)\n"
        "for _ in range(3):\n"
        "    model(torch.ones(2, 2))\n"
        "sys.meta_path.insert(1, Newer())\n"
        "sys.modules['torch._dynamo'] = torch\n"
        "__import__('torch._dynamo.eval_frame')\n"
        "for _ in range(3):\n"
        "    model(torch.ones(2, 2))\n"
    )
    ran = kinetoscope(script, options=["--modules"])
    assert ran.code == 0, ran
    assert {name: each["calls"] for name, each in modules_of(ran).items()} == {"Linear": 3}
    assert "modules-lost-sight" in ran.problems


def test_the_backward_pass_of_the_last_measured_call_is_recorded(kinetoscope):
    ran = kinetoscope("modules_training.py", "training", options=["--modules"])
    assert ran.code == 0, ran
    assert modules_of(ran)["Sequential"]["calls"] == 8
    trace = json.loads(Path(ran.result["traces"][0]).read_bytes())
    names = [each.get("name") for each in trace["traceEvents"]]
    assert names.count("autograd::engine::evaluate_function: ReluBackward0") == 8
    assert ran.script_output.splitlines()[-1] == b"step 7"  # the next call of the model ends it
    assert ran.result["run"]["was_ended_early"]


def test_without_gradients_nothing_is_waited_for(kinetoscope):
    ran = kinetoscope("modules_training.py", "inference", options=["--modules"])
    assert ran.code == 0, ran
    assert modules_of(ran)["Sequential"]["calls"] == 8
    assert ran.script_output.splitlines()[-1] == b"step 6"
