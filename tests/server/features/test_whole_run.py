"""`kinetoscope/run`, `kinetoscope/trace` and `kinetoscope/trust`: what a richer client draws a whole run from."""

import http.client
import json
import os
import shutil
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from pygls.exceptions import JsonRpcException

pytestmark = pytest.mark.timeout(120)

TRACES = Path(__file__).parents[2] / "traces" / "h200"
TRAIN = """from torch.profiler import record_function

def step():
    with record_function("train_step"):
        with record_function("forward"):
            pass
        with record_function("backward"):
            pass
"""


async def loaded(client, trace="train_mlp.json.gz"):
    uri = client.write("train.py", TRAIN)
    client.open(uri)
    await client.execute("kinetoscope.loadTrace", [str(TRACES / trace)], [uri])
    await client.message()
    return uri


async def test_a_loaded_trace_is_a_run_with_all_its_regions_and_the_place_of_each(start):
    client = await start()
    assert await client.ask("kinetoscope/run", {"uri": None, "run": None}) is None
    uri = await loaded(client)
    run = await client.ask("kinetoscope/run", {"uri": uri, "run": None})

    assert (run["id"], run["title"], run["run"]) == ("loaded-1", "train_mlp.json.gz", None)
    assert run["traces"] == [str(TRACES / "train_mlp.json.gz")]
    assert run["device"] == {"name": "NVIDIA H200", "count": 1}
    assert run["device_total_ns"] == 3184345
    assert run["problems"] == run["findings"] == []
    (backward,) = (each["measures"] for each in run["regions"] if each["measures"]["name"] == "backward")
    assert "tensor-cores-unused" in [each["code"] for each in backward["findings"]]
    by_name = {region["measures"]["name"]: region for region in run["regions"]}
    assert [region["index"] for region in run["regions"]] == list(range(len(by_name)))
    backward = by_name["backward"]
    assert (backward["uri"], backward["row"], backward["stale"]) == (uri, 6, [])
    assert backward["share"] == pytest.approx(1100030 / 3184345)
    assert [by_name[name]["parent"] for name in ("train_step", "backward", "layer_0")] == [
        None,
        by_name["train_step"]["index"],
        by_name["forward"]["index"],
    ]
    assert (by_name["layer_0"]["series"], by_name["layer_0"]["inside"]) == (by_name["layer_N"]["index"], None)
    assert (by_name["layer_0"]["uri"], by_name["layer_0"]["row"]) == (None, None)
    assert backward["measures"]["breakdown"]["kernel_names"] == 10
    assert [each["cuda_total_ns"] for each in backward["measures"]["call_times"]]
    assert len(backward["measures"]["timeline"]["device"]) == 23

    assert await client.ask("kinetoscope/run", {"uri": None, "run": None}) == run
    assert await client.ask("kinetoscope/run", {"uri": None, "run": "loaded-1"}) == run
    assert await client.ask("kinetoscope/run", {"uri": None, "run": "loaded-2"}) is None
    assert await client.ask("kinetoscope/run", {"uri": client.write("other.py", TRAIN), "run": None}) is None
    with pytest.raises(JsonRpcException, match="uri: 5"):
        await client.ask("kinetoscope/run", {"uri": 5, "run": None})


async def test_regions_of_a_run_move_and_turn_stale_with_the_text(start):
    client = await start()
    uri = await loaded(client)

    async def places():
        run = await client.ask("kinetoscope/run", {"uri": uri, "run": None})
        return {
            each["measures"]["name"]: (each["row"], each["stale"]) for each in run["regions"] if each["uri"] is not None
        }

    client.replace(uri, 2, (0, 0), (0, 0), "# a line more\n")
    assert await places() == {"train_step": (4, []), "forward": (5, []), "backward": (7, [])}
    client.replace(uri, 3, (6, 12), (6, 16), "work()")
    assert (await places())["forward"] == (5, ["its code has changed since it was measured"])
    assert (await places())["backward"] == (7, ["the function around it has changed since it was measured"])
    client.replace(uri, 4, (7, 0), (9, 0), "")
    assert (await places())["backward"] == (None, ["it is no longer in the text"])
    client.close(uri)
    assert (await places())["backward"] == (6, [])
    client.write("train.py", "# another\n" + TRAIN)
    assert (await places())["backward"] == (6, ["its file has changed on disk since it was measured"])


async def test_forgotten_times_are_no_run_any_more(start):
    client = await start()
    uri = await loaded(client)
    await client.execute("kinetoscope.clear", uri, None, None)
    assert await client.ask("kinetoscope/run", {"uri": uri, "run": None}) is None
    await client.execute("kinetoscope.clear", None, None, None)
    assert await client.ask("kinetoscope/run", {"uri": None, "run": None}) is None


async def test_a_stored_run_is_there_whole_also_after_a_restart_and_its_trace_opens(start):
    client = await start()
    uri = client.copy("two_regions.py")
    client.open(uri)
    answer = await client.protocol.send_request_async("kinetoscope/profile", {"uri": uri, "arguments": ["--size", "8"]})
    run = await client.ask("kinetoscope/run", {"uri": uri, "run": None})
    assert run["id"] == answer.run
    assert run["title"] == "two_regions.py --size 8"
    assert run["run"]["arguments"] == ["--size", "8"]
    assert run["device_total_ns"] is None
    outer, inner = [each for each in run["regions"] if each["uri"] == uri]
    assert (outer["row"], inner["row"]) == (7, 9)
    assert 0 < inner["share"] < outer["share"] == 1
    times = outer["measures"]["call_times"]
    assert len(times) == outer["measures"]["calls"]
    assert [each["is_warmup"] for each in times].count(False) == outer["measures"]["measured"]
    assert outer["measures"]["timeline"]["host"][0]["name"] == "outer"
    assert outer["measures"]["timeline"]["device"] == []

    again = await start()
    assert await again.ask("kinetoscope/run", {"uri": None, "run": None}) == run, "before any file is open"
    assert await again.ask("kinetoscope/run", {"uri": uri, "run": None}) == run
    opened = await again.ask("kinetoscope/trace", {"run": run["id"], "region": outer["index"]})
    assert opened["title"] == "outer in two_regions.py"
    assert page_of(opened["link"]).status == 200
    whole = await again.ask("kinetoscope/trace", {"run": run["id"], "region": None})
    assert whole["title"] == Path(run["traces"][0]).name

    os.remove(run["traces"][0])
    with pytest.raises(JsonRpcException, match="There is no trace"):
        await again.ask("kinetoscope/trace", {"run": run["id"], "region": 0})
    shutil.rmtree(os.path.dirname(run["traces"][0]))
    assert await again.ask("kinetoscope/run", {"uri": None, "run": run["id"]}) is None
    with pytest.raises(JsonRpcException, match="is no longer stored"):
        await again.ask("kinetoscope/trace", {"run": run["id"], "region": 0})


async def test_a_link_to_a_trace_is_answered_to_whom_it_was_made_for(start):
    client = await start()
    uri = await loaded(client)
    asked = {"uri": uri, "line": 6, "name": "backward", "embedders": ["vscode-webview:"]}
    opened = await client.ask("kinetoscope/trace", asked)
    assert opened["title"] == "backward in train.py"
    assert "frame-ancestors vscode-webview:" in page_of(opened["link"]).headers["Content-Security-Policy"]
    plain = await client.ask("kinetoscope/trace", {"run": "loaded-1", "region": 0})
    assert "frame-ancestors 'none'" in page_of(plain["link"]).headers["Content-Security-Policy"]

    assert page_of(opened["link"], host="tunnel.example.org").status == 421
    assert await client.ask("kinetoscope/trust", {"address": "https://tunnel.example.org/proxy/"}) is None
    assert page_of(opened["link"], host="tunnel.example.org").status == 200


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ({"uri": "file:///nowhere.py", "line": 1, "name": "f"}, "f has not been measured yet"),
        ({"run": "20200101-000000-abcdef", "region": 0}, "is no longer stored"),
        ({"run": "../../etc", "region": 0}, "is no longer stored"),
        ({"run": "loaded-1", "region": 99}, "has no region 99; it has 17"),
        ({"run": "loaded-1", "region": "0"}, "region: '0' is not of the type"),
        ({"run": "loaded-1", "region": 0, "embedders": ["a; script-src *"]}, "is not a source of pages"),
        ({"run": "loaded-1", "region": 0, "embedders": "https:"}, "expected a list of strings"),
        ({}, "uri: None is not of the type"),
    ],
)
async def test_a_trace_that_cannot_be_had_is_an_error_for_people(start, asked, message):
    client = await start()
    await loaded(client)
    with pytest.raises(JsonRpcException) as error:
        await client.ask("kinetoscope/trace", asked)
    assert message in error.value.message
    assert error.value.code in (-32602, -32803)
    assert not client.messages


@pytest.mark.parametrize("address", ["", "tunnel", 5, None])
async def test_what_is_no_address_is_not_trusted(start, address):
    client = await start()
    with pytest.raises(JsonRpcException) as error:
        await client.ask("kinetoscope/trust", {"address": address})
    assert error.value.code == -32602


async def test_a_damaged_stored_run_is_said_to_be(start):
    client = await start()
    for name, text in (("no-json", "{"), ("no-result", '{"schema": 2}'), ("of-yesterday", '{"schema": 1}')):
        folder = start.cache / "kinetoscope" / "runs" / name
        folder.mkdir(parents=True)
        (folder / "result.json").write_text(text)
        with pytest.raises(JsonRpcException, match=r"cannot be read|is damaged|of schema 1") as error:
            await client.ask("kinetoscope/run", {"uri": None, "run": name})
        assert error.value.code == -32803
    assert await client.ask("kinetoscope/run", {"uri": None, "run": None}) is None
    assert not client.messages


async def test_results_say_the_share_and_leave_out_what_is_large(start):
    client = await start()
    uri = await loaded(client)
    await client.until(lambda: uri in client.results and client.results[uri].regions, "results")
    backward = next(region for region in client.results[uri].regions if region.name == "backward")
    assert backward.share == pytest.approx(1100030 / 3184345)
    assert backward.bound == backward.measures.bound is not None
    assert backward.run == "loaded-1"
    assert not {"call_times", "timeline"} & set(backward.measures._fields)
    assert len(json.dumps(backward, default=str)) < 20_000


def page_of(link, host=None):
    """The answer to a request for the page, in the name of another host."""
    parts = urlsplit(link)
    connection = http.client.HTTPConnection(parts.hostname, parts.port, timeout=10)
    connection.request("GET", parts.path, headers={"Host": host or parts.netloc})
    answer = connection.getresponse()
    answer.read()
    connection.close()
    return answer
