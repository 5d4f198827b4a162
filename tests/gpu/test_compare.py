"""Before and after on a real device: what was changed is found, what was not is not."""

import json

import pytest

from .conftest import ROOT

pytestmark = pytest.mark.gpu
INJECTED = ROOT / "benchmarks" / "scripts" / "injected.py"


@pytest.fixture
def cache(tmp_path):
    return {"XDG_CACHE_HOME": str(tmp_path / "cache")}


def compared(kinetoscope, cache, *sides, keep_as):
    ran = kinetoscope("compare", *sides, "--json", env=cache, keep_as=keep_as)
    assert ran.code == 0, ran.stderr
    return {each["name"]: each for each in json.loads(ran.stdout)["regions"]}


def test_five_percent_more_gpu_work_is_found_from_one_run_each_and_the_same_code_is_the_same(
    kinetoscope, cache, tmp_path
):
    script = tmp_path / "injected.py"
    script.write_text(INJECTED.read_text())
    for code in ("100, 40_000, 100", "100, 40_000, 100", "105, 40_000, 100"):
        script.write_text(INJECTED.read_text().replace("100, 40_000, 100", code))
        assert kinetoscope("profile", script, "--json", env=cache).code == 0
    runs = sorted((tmp_path / "cache" / "kinetoscope" / "runs").iterdir())
    same = compared(kinetoscope, cache, runs[0].name, runs[1].name, keep_as="compare_same")
    assert same["products"]["cuda_total_ns"]["verdict"] == "same"
    assert all(each["cuda_total_ns"]["verdict"] in ("same", "unknown") for each in same.values())
    found = compared(kinetoscope, cache, "baseline", keep_as="compare_more_work")
    assert found["products"]["cuda_total_ns"]["verdict"] == "slower"
    assert 0.03 < found["products"]["cuda_total_ns"]["change"] < 0.07
    assert found["products"]["launches"] == {"a": 100, "b": 105}
    gate = kinetoscope("compare", "baseline", "--fail-slower", "3%", env=cache)
    assert gate.code == 4, gate.stderr
    assert "products (CUDA) by" in gate.stderr


def test_what_the_guide_compares(kinetoscope, cache, tmp_path):
    """64 against 4096 and eager against compiled, in one sweep: the kernels of both are in the traces."""
    ran = kinetoscope(
        "sweep", "examples/matmul_add.py", "--vary", "size=64,4096", "--vary", "compile=,yes", "--json",
        env=cache, keep_as="sweep_guide", timeout=400,
    )  # fmt: skip
    assert ran.code == 0, ran.stderr
    by_arguments = {}
    for folder in (tmp_path / "cache" / "kinetoscope" / "runs").iterdir():
        result = json.loads((folder / "result.json").read_bytes())
        by_arguments[tuple(result["run"]["arguments"])] = folder.name
    assert len(by_arguments) == 4
    eager, compiled = (
        next(name for given, name in by_arguments.items() if "64" in given and ("--compile" in given) == is_compiled)
        for is_compiled in (False, True)
    )
    found = compared(kinetoscope, cache, eager, compiled, keep_as="compare_compiled")["matmul_add"]
    assert found["cuda_total_ns"]["verdict"] == "faster"
    assert found["launches"]["b"] < found["launches"]["a"]
    assert found["kernels"]["new"]
    assert found["kernels"]["gone"]
