"""A result against its baseline, as it is shown at the lines and asked for."""

import shutil
from typing import Any

import orjson
import pytest

pytestmark = pytest.mark.timeout(120)

SCRIPT = """import torch
from torch.profiler import record_function

for n in range(9):
    with record_function("outer"):
        with record_function("inner"):
            torch.ones(9).sum()
"""


async def profiled(client) -> tuple[str, str]:
    uri = client.write("compared.py", SCRIPT)
    client.open(uri)
    answer = await client.ask("kinetoscope/profile", {"uri": uri})
    assert answer["how"] == "measured", answer
    return answer["run"], uri


def spread(ns: int) -> dict[str, int]:
    return {"median": ns, "min": ns, "max": ns, "sum": 5 * ns}


def store_like(client, run: str, name: str, *, cpu: int, cuda: int | None = None, code: str = "") -> str:
    """Stores a run like that one, with other times at all regions, in ns; with `code`, of another text."""
    runs = client.workspace_path.parent / "cache" / "kinetoscope" / "runs"
    shutil.copytree(runs / run, runs / name)
    values: dict[str, Any] = orjson.loads((runs / name / "result.json").read_bytes())
    for region in values["regions"]:
        region |= {"cpu_total_ns": spread(cpu), "cpu_self_ns": spread(cpu), "cpu_middle_ns": None}
        if cuda is not None:
            region |= {"cuda_total_ns": spread(cuda), "cuda_self_ns": spread(cuda)}
    if cuda is not None:
        values |= {"device_total_ns": cuda, "device": {"name": "NVIDIA H200", "count": 1}, "no_cuda_because": None}
    if code:
        values["run"]["code"] = {file: code + digest[1:] for file, digest in values["run"]["code"].items()}
    (runs / name / "result.json").write_bytes(orjson.dumps(values))
    return name


async def test_a_run_is_compared_with_another_or_with_its_baseline(start):
    client = await start("minimal")
    run, _ = await profiled(client)
    assert await client.ask("kinetoscope/comparison", {"run": run}) is None
    before = store_like(client, run, "20200101-000000-aaaaaa", cpu=900_000_000, code="x")
    also_before = store_like(client, run, "20200101-000000-bbbbbb", cpu=910_000_000, code="x")

    found = await client.ask("kinetoscope/comparison", {"run": run})
    assert (found["schema"], found["a"]["runs"], found["b"]["runs"]) == (1, [also_before, before], [run])
    assert [each["cpu_total_ns"]["verdict"] for each in found["regions"]] == ["faster", "faster"]
    back = await client.ask("kinetoscope/comparison", {"run": before, "other": run})
    assert (back["a"]["runs"], back["b"]["runs"]) == ([run], [before, also_before])
    assert [each["cpu_total_ns"]["verdict"] for each in back["regions"]] == ["slower", "slower"]
    with pytest.raises(Exception, match="There is no stored run 20000101"):
        await client.ask("kinetoscope/comparison", {"run": run, "other": "20000101"})
