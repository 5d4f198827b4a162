"""What clients answer to the server's own questions: late, wrong, or not at all."""

from pathlib import Path

import pytest

pytestmark = pytest.mark.timeout(120)

TRACE = Path(__file__).parents[2] / "traces" / "h200" / "matmul_add_64.json.gz"
SLEEPS = """import time
open("running", "w").close()
time.sleep(600)
from torch.profiler import record_function
with record_function("matmul_add"):
    pass
"""
RICH = {
    "workspace": {
        "configuration": True,
        "didChangeConfiguration": {"dynamicRegistration": True},
        "inlayHint": {"refreshSupport": True},
        "codeLens": {"refreshSupport": True},
    },
    "window": {"workDoneProgress": True, "showDocument": {"support": True}},
    "experimental": {"kinetoscope": {"save": True}},
}
JUNK = {
    "a number": {"result": 5},
    "a text": {"result": "text"},
    "a list": {"result": [[1], {}]},
    "an empty list": {"result": []},
    "an object": {"result": {"title": 7}},
    "null": {"result": None},
    "neither result nor error": {},
    "an error that is none": {"error": 5},
    "an error without a message": {"error": {"code": "x"}},
    "an error": {"error": {"code": -32603, "message": "cannot"}},
}


@pytest.mark.parametrize("junk", JUNK.values(), ids=JUNK.keys())
def test_a_reply_that_is_none_breaks_nothing(connect, tmp_path, junk):
    client = connect()
    asked = set()

    def reply(message):
        asked.add(message["method"])
        client.send(id=message["id"], **junk)

    client.reply = reply
    client.begin(capabilities=RICH)
    script = tmp_path / "sleeps.py"
    script.write_text(SLEEPS)
    uri = script.as_uri()
    client.open(uri, SLEEPS + "# not saved\n")
    client.execute("kinetoscope.loadTrace", [str(TRACE)], [uri])
    client.until(lambda: any(text.startswith("Loaded ") for text in client.shown()), "message")
    link = client.execute("kinetoscope.openTrace", uri, 4, "matmul_add")
    assert client.shown()[-1] == f"The trace: {link}"
    client.execute("kinetoscope.profileFile", uri)
    client.until((tmp_path / "running").exists, "run")
    client.execute("kinetoscope.profileWithArguments", uri, None, ["other"])  # asks whether to replace the first
    client.until(lambda: any("The run goes on." in text for text in client.shown()), "refusal")
    assert client.execute("kinetoscope.cancel") is True
    client.until(lambda: any("cancelled" in text for text in client.shown()), "end")
    assert asked == {
        "workspace/configuration", "client/registerCapability", "workspace/inlayHint/refresh",
        "workspace/codeLens/refresh", "window/workDoneProgress/create", "window/showDocument",
        "window/showMessageRequest", "kinetoscope/save",
    }  # fmt: skip
    assert not [text for text in client.shown() if "internal error" in text]
    assert client.request("textDocument/codeLens", textDocument={"uri": uri})["result"]


@pytest.mark.parametrize("way", ["command", "command of a request", "request"])
def test_what_is_cancelled_while_the_client_saves_never_runs(connect, tmp_path, way):
    client = connect()
    asked = []
    client.reply = asked.append  # and does not answer
    client.begin(capabilities={"experimental": {"kinetoscope": {"save": True}}})
    script = tmp_path / "writes.py"
    script.write_text("open('it ran', 'w').close()\n")
    uri = script.as_uri()
    client.open(uri, "# not saved\n")
    if way == "command":
        client.execute("kinetoscope.profileFile", uri)
    else:
        client.send(id="run", method="kinetoscope/profile", params={"uri": uri})
    client.until(lambda: asked, "question")
    assert asked[0]["method"] == "kinetoscope/save"
    if way == "request":
        client.send(method="$/cancelRequest", params={"id": "run"})
        assert client.answer("run")["error"]["code"] == -32800
    else:
        assert client.execute("kinetoscope.cancel") is True
    if way == "command of a request":
        assert client.answer("run")["result"]["how"] == "cancelled"
    if way == "command":
        client.until(client.shown, "message")
        assert client.shown() == ["Profiling writes.py was cancelled before it started."]
    client.send(id=asked[0]["id"], result=True)  # too late
    assert client.execute("kinetoscope.cancel") is False
    assert not (tmp_path / "it ran").exists()

    client.reply = lambda message: client.send(id=message["id"], result=False)
    assert client.request("kinetoscope/profile", uri=uri)["result"]["how"] == "nothing"
    assert (tmp_path / "it ran").exists()
