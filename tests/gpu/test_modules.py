"""Models without a region, as people train them, with a region for each module; and what the script sees of that."""

import difflib
import json
import subprocess
import sys
from pathlib import Path

import module_walk
import pytest

MODELS = {
    "llama": {"Llama", "layers.5.attention.qkv", "head"},
    "checkpointed": {"layers.0", "layers.2.mlp (in backward)"},
    "resnet": {"ResNet", "layer4.1.conv2"},
    "gpt2": {"GPT2LMHeadModel", "transformer.h.3.mlp.c_fc"},
    "lightning": {"Sequential", "0"},
    "ddp": {"DistributedDataParallel", "module.0"},
    "compiled": {"Llama", "layers.0", "layers.1"},
    "whole_compiled": {"Llama"},
    "short": {"Llama", "layers.0.mlp"},
}
NEEDS = {"resnet": "torchvision", "gpt2": "transformers", "lightning": "lightning"}


@pytest.mark.gpu
@pytest.mark.parametrize("name", MODELS)
def test_a_model_s_modules_are_what_an_independent_walk_says(kinetoscope, name):
    pytest.importorskip(NEEDS.get(name, "torch"))
    script = "tests/gpu/scripts/models.py"
    ran = kinetoscope("profile", "--modules", script, "--json", "--", name, 20, keep_as=f"modules_{name}")
    assert ran.code == 0, ran.stderr
    result = ran.result
    modules = {each["name"]: each for each in result["regions"] if each["origin"] == "module"}
    assert modules.keys() >= MODELS[name]
    assert module_walk.check(result, module_walk.walked(Path(result["traces"][0]))) == len(modules)
    assert {each["module"]["is_compiled"] for each in modules.values()} == {
        "compiled": {False, True},
        "whole_compiled": {True},
    }.get(name, {False})


@pytest.mark.gpu
@pytest.mark.parametrize("what", [("cuda",), ("compile", "cuda")], ids=["eager", "compiled"])
def test_outputs_gradients_random_numbers_and_graphs_are_the_same(kinetoscope, what):
    script = "tests/runner/scripts/modules_same.py"
    plain = subprocess.run([sys.executable, script, *what], capture_output=True, text=True, check=True)
    ran = kinetoscope("profile", "--modules", "--to-the-end", "--json", script, "--", *what)
    seen = [line for line in ran.stderr.splitlines() if not line.startswith("kinetoscope: ")]
    wanted = [*plain.stdout.splitlines(), *plain.stderr.splitlines()]
    assert len(wanted) >= 7
    assert sorted(seen) == sorted(wanted), "\n".join(difflib.unified_diff(wanted, seen, lineterm=""))
    json.loads(ran.stdout)
