"""Traces from elsewhere: which file they belong to does not hang on what else is open, and what is said of them."""

import gzip
import shutil
from pathlib import Path

import pytest

TRACES = Path(__file__).parents[2] / "traces" / "h200"
pytestmark = pytest.mark.timeout(120)

HEAD = "from torch.profiler import record_function\n\n"


def regions(*names):
    return HEAD + "".join(f'with record_function("{name}"):\n    pass\n' for name in names)


LAYERS = [f"layer_{n}" for n in range(8)]
TRAINING = regions("train_step", "data", "forward", *LAYERS, "backward", "optimizer", "log")


async def lines(client, uri):
    return sorted(await client.hint_texts(uri))


@pytest.fixture
def trace(tmp_path):
    target = tmp_path / "train.pt.trace.json.gz"
    shutil.copy(TRACES / "train_mlp.json.gz", target)
    return str(target)


async def test_a_trace_belongs_to_the_file_with_most_of_its_names_whatever_else_is_open(start, trace):
    client = await start()
    other, loop = client.write("other.py", regions("forward", "backward")), client.write("loop.py", TRAINING)
    client.open(other)
    client.open(loop)
    answer = await client.ask("kinetoscope/load", {"traces": [trace]})
    assert answer["message"].startswith("Loaded train.pt.trace.json.gz: 14 of 14 regions found in loop.py."), answer
    assert (answer["how"], answer["files"], answer["run"]) == ("measured", [loop], "loaded-1")
    assert (await lines(client, other), len(await lines(client, loop))) == ([], 14)
    assert not client.asked
    assert not client.messages

    again = await client.ask("kinetoscope/load", {"traces": [trace], "sources": [other]})
    assert " 2 of 7 regions found in other.py." in again["message"]
    assert (len(await lines(client, other)), len(await lines(client, loop))) == (2, 14)
    third = await client.ask("kinetoscope/load", {"traces": [trace], "sources": [other]})
    listed = [each["id"] for each in await client.ask("kinetoscope/runs", {})]
    assert listed == [third["run"], answer["run"]] != [again["run"], answer["run"]]


@pytest.mark.parametrize("answer", ["copy.py", None])
async def test_where_two_files_have_as_many_of_its_names_it_is_asked_which_one_was_traced(start, trace, answer):
    client = await start()
    loop, copy = client.write("loop.py", TRAINING), client.write("copy.py", TRAINING)
    client.open(loop)
    client.open(copy)
    client.answer = answer
    told = await client.ask("kinetoscope/load", {"traces": [trace]})
    (asked,) = client.asked
    assert asked.message.startswith("Several files have regions of these names: ")
    assert [each.title for each in asked.actions] == ["loop.py", "copy.py"]
    if answer:
        assert " 14 of 14 regions found in copy.py." in told["message"]
        assert (await lines(client, loop), len(await lines(client, copy))) == ([], 14)
    else:
        assert " its 7 regions are not in any file here." in told["message"]
        assert (told["how"], told["files"]) == ("measured", [])


async def test_a_file_of_the_workspace_that_is_not_open_is_found(start, trace):
    client = await start()
    (client.workspace_path / "src").mkdir()
    loop = client.write("src/loop.py", TRAINING)
    for name in (".venv/loop.py", "env/loop.py"):
        (client.workspace_path / name).parent.mkdir()
        client.write(name, TRAINING)
    client.write("env/pyvenv.cfg", "")
    client.open(client.write("other.py", regions("other")))
    answer = await client.ask("kinetoscope/load", {"traces": [trace]})
    assert " 14 of 14 regions found in loop.py." in answer["message"]
    client.open(loop)
    assert len(await lines(client, loop)) == 14


async def test_a_trace_of_which_no_region_is_open_is_loaded_all_the_same(start, trace):
    client = await start("minimal")
    await client.execute("kinetoscope.loadTrace", [trace], [])
    assert " its 7 regions are not in any file here." in (await client.message()).message
    run = await client.ask("kinetoscope/run", {"run": "loaded-1"})
    assert run["title"] == "train.pt.trace.json.gz"
    assert len(run["regions"]) >= 14


async def test_a_trace_without_a_region_says_so(start, tmp_path):
    client = await start()
    text = gzip.decompress((TRACES / "matmul_add_64.json.gz").read_bytes()).replace(b'"user_annotation"', b'"other"')
    (tmp_path / "none.json").write_bytes(text.replace(b'"gpu_user_annotation"', b'"other"'))
    answer = await client.ask("kinetoscope/load", {"traces": [str(tmp_path / "none.json")]})
    assert "Loaded none.json: it has no record_function region." in answer["message"]
    assert answer["run"] == "loaded-1"


async def test_the_traces_of_ranks_stand_at_the_lines_as_one_with_the_slow_rank_named(start):
    client = await start()
    loop = client.write("loop.py", regions("train_step", "data", "forward", "block", "backward", "optimizer", "log"))
    client.open(loop)
    paths = [str(TRACES.parent / "ranks" / f"ddp_slow_host_rank{rank}.json.gz") for rank in (0, 1)]
    answer = await client.ask("kinetoscope/load", {"traces": paths})
    assert answer["message"].startswith(
        "Loaded 2 ranks (the times are those of rank 0, the median rank): 7 of 7 regions"
    )
    hints = [*(await client.hint_texts(loop)).values()]
    assert "CUDA 12.8 µs · CPU 149 µs · rank 1 CPU ×69" in hints
    assert max(map(len, hints)) <= 43
    hover = await client.hover(loop, 4, 2)
    assert "| rank | CUDA total | CPU total |" in hover
    assert "| 0 | 12.8 µs | 149 µs |" in hover
    assert "| 1 | 12.9 µs | 10.3 ms |" in hover
    backward = await client.hover(loop, 10, 2)
    assert "| rank | CUDA total | CPU total | waiting | transfer | exposed |" in backward
    assert "| 0 | 20.9 ms | 7.91 ms | 15.4 ms | 1.51 ms | 13.4 ms |" in backward
    assert "2 ranks; the times are those of rank 0, the median rank" in backward
