"""The process itself: what cannot be seen through a well-behaved client."""

import json
import os
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest

from kinetoscope_server.protocol import codec

SCRIPTS = Path(__file__).parents[1] / "scripts"
FAULTY = [sys.executable, str(SCRIPTS / "faulty_server.py")]
ENDLESS = """
import subprocess, sys, time
import torch
from torch.profiler import record_function
child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
with record_function("endless"):
    open("running", "w").close()
    while True:
        try:
            time.sleep(600)
        except BaseException:
            pass
"""


def test_whatever_prints_does_not_break_the_messages_and_a_raising_handler_is_told_once(connect):
    client = connect(FAULTY)
    client.begin()
    client.open("file:///work/f.py", "x = 1\n")
    place = {"textDocument": {"uri": "file:///work/f.py"}, "position": {"line": 0, "character": 0}}
    for _ in range(3):
        answer = client.request("textDocument/hover", **place)
        assert "a fault in a handler" in answer["error"]["message"]
    shown = [each["params"]["message"] for each in client.notified if each["method"] == "window/showMessage"]
    assert len(shown) == 1
    assert "a fault in a handler" in shown[0]
    assert client.request("textDocument/documentSymbol", textDocument={"uri": "file:///work/f.py"})["result"] == []
    client.process.stdin.close()
    client.process.wait(60)
    errors = connect.errors.read_text()
    for text in ("printed", "written", "from a shell", "from a child", "ZeroDivisionError"):
        assert text in errors


def test_requests_cancelled_while_the_server_was_busy_are_not_run(connect):
    client = connect(FAULTY)
    client.begin()
    client.open("file:///work/f.py", "x = 1\n")
    document = {"uri": "file:///work/f.py"}
    for identity in range(100, 120):
        client.send(id=identity, method="textDocument/codeLens", params={"textDocument": document})
        if identity < 119:
            client.send(method="$/cancelRequest", params={"id": identity})
    answers = {identity: client.answer(identity) for identity in range(100, 120)}
    assert answers[119]["result"] == []
    cancelled = [each for each in answers.values() if each.get("error", {}).get("code") == -32800]
    assert len(cancelled) >= 18
    assert connect.errors.read_text().count("lenses were asked for") == 20 - len(cancelled)


@pytest.mark.parametrize(("shuts_down", "code"), [(True, 0), (False, 1)])
def test_the_exit_code_says_whether_shutdown_came_first(connect, shuts_down, code):
    client = connect()
    client.begin()
    if shuts_down:
        assert client.request("shutdown")["result"] is None
        client.send(method="exit", params=None)
    else:
        client.process.stdin.close()
    assert client.process.wait(60) == code


def test_it_ends_though_a_file_never_can_be_read_to_its_end(connect, tmp_path):
    client, script = connect(), tmp_path / "script.py"
    os.mkfifo(script)
    client.begin()
    client.open(script.as_uri(), "import torch\n")
    client.send(id="run", method="kinetoscope/profile", params={"uri": script.as_uri()})
    with script.open("wb"):  # there once somebody reads
        assert client.request("shutdown")["result"] is None
        client.send(method="exit", params=None)
        assert client.process.wait(60) == 0


def test_what_is_no_message_is_passed_over(connect):
    client = connect()
    client.begin()
    for body in (b"{", b"[]", b"null", b'{"jsonrpc": "2.0"}', b'{"jsonrpc": "2.0", "id": 7, "method": 3}', b"\xff"):
        client.send_bytes(body)
    client.send(id=8, method="textDocument/hover", params={"textDocument": 1})
    assert client.answer(8)["error"]["code"] == -32602
    client.send(id=9, method="kinetoscope/profile", params={"uri": 5})
    assert client.answer(9)["error"]["code"] == -32602
    client.send(id=10, method="nowhere", params={})
    assert client.answer(10)["error"]["code"] == -32601
    client.send(
        method="textDocument/didChange",
        params={"textDocument": {"uri": "file:///never", "version": 1}, "contentChanges": []},
    )
    assert client.request("textDocument/codeLens", textDocument={"uri": "file:///never"})["result"] == []


def test_nothing_is_answered_before_initialize_and_after_shutdown_but_that_it_is_not(connect):
    client = connect()
    nowhere = {"uri": "file:///work/f.py"}
    client.open(nowhere["uri"], "x = 1\n")
    for method in ("textDocument/hover", "kinetoscope/run", "shutdown", "nowhere"):
        assert client.request(method, textDocument=nowhere)["error"]["code"] == -32002, method
    assert client.request("initialize", capabilities=5)["error"]["code"] == -32602
    assert client.request("textDocument/codeLens", textDocument=nowhere)["error"]["code"] == -32002
    assert client.begin()["result"]["serverInfo"]["name"] == "kinetoscope"
    assert client.request("initialize", processId=None, rootUri=None, capabilities={})["error"]["code"] == -32600
    assert client.request("textDocument/codeLens", textDocument=nowhere)["result"] == []
    assert client.request("shutdown")["result"] is None
    assert client.request("textDocument/codeLens", textDocument=nowhere)["error"]["code"] == -32600
    client.send(method="exit", params=None)
    assert client.process.wait(60) == 0


def test_lone_surrogates_go_through(connect):
    client = connect()
    client.begin()
    text = 'from torch.profiler import record_function\nwith record_function("\ud800"): pass\n'
    client.open("file:///work/f.py", text)
    (symbol,) = client.request("textDocument/documentSymbol", textDocument={"uri": "file:///work/f.py"})["result"]
    assert symbol["name"] == "\\ud800"
    (lens, *_) = client.request("textDocument/codeLens", textDocument={"uri": "file:///work/f.py"})["result"]
    assert lens["command"]["arguments"] == ["file:///work/f.py", 1, "\ud800"]


@pytest.mark.timeout(150)
def test_when_the_editor_or_the_server_is_gone_so_is_everything_that_it_started(connect, tmp_path):
    clients = []
    for name in ("input_ends", "killed"):
        script = tmp_path / name / "endless.py"
        script.parent.mkdir()
        script.write_text(ENDLESS)
        client = connect()
        client.begin(initializationOptions={"interpreter": sys.executable})
        client.open(script.as_uri(), ENDLESS)
        client.request("workspace/executeCommand", command="kinetoscope.profileFile", arguments=[script.as_uri()])
        wait_for(script.with_name("running").exists, 60)
        clients.append(client)
        started = processes_of(tmp_path / "cache")
        assert len(started) >= 4 * len(clients), "server, worker, script and its child"
    input_ends, killed = clients
    input_ends.process.stdin.close()
    killed.process.send_signal(signal.SIGKILL)
    for client in clients:
        client.process.wait(60)
    wait_for(lambda: not processes_of(tmp_path / "cache", started), 60)  # the scripts may take 20 s to leave
    assert not processes_of(tmp_path / "cache")


def test_one_client_is_served_over_tcp(connect):
    command = [*connect.server, "--tcp", "127.0.0.1:0"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL) as process:
        port = int(process.stderr.readline().rsplit(b":", 1)[1])
        with socket.create_connection(("127.0.0.1", port)) as connection:
            client = connect.over(connection.makefile("rb"), connection.makefile("wb"))
            assert client.begin()["result"]["serverInfo"]["name"] == "kinetoscope"
            client.request("shutdown")
            client.send(method="exit", params=None)
            assert process.wait(60) == 0
            client.reading.close()
            client.writing.close()


def test_both_ways_of_writing_json_give_the_same():
    plain = {"a": [1, None, True, "é\u2028"], "b": {"c": 1.5}}
    odd = {**plain, "d": "\ud800"}
    assert json.loads(codec.encoded(plain, str)) == plain
    assert json.loads(codec.encoded(odd, str)) == odd
    assert codec.decoded(json.dumps(odd).encode()) == odd
    assert codec.decoded(codec.encoded(plain, str)) == plain
    with pytest.raises(ValueError, match="JSON"):
        codec.encoded({**odd, "e": float("nan")}, str)


def processes_of(cache, among=None):
    """The server with this cache folder and everything that it started: they inherit its environment.

    To look at all processes takes 13 ms of a core; `among` names those to look at.
    """
    mark = f"XDG_CACHE_HOME={cache}\0".encode()
    found = []
    for process in among or map(int, filter(str.isdigit, os.listdir("/proc"))):
        try:
            if mark in Path(f"/proc/{process}/environ").read_bytes():
                found.append(process)
        except OSError:
            continue
    return found


def wait_for(holds, within_s):
    ends = time.monotonic() + within_s
    while not holds():
        assert time.monotonic() < ends, f"not within {within_s} s"
        time.sleep(0.02)


MALFORMED = {
    "no id to cancel": b'{"jsonrpc": "2.0", "method": "$/cancelRequest", "params": {}}',
    "a list to cancel": b'{"jsonrpc": "2.0", "method": "$/cancelRequest", "params": {"id": [1]}}',
    "null to cancel": b'{"jsonrpc": "2.0", "method": "$/cancelRequest", "params": {"id": null}}',
    "no parameters to cancel": b'{"jsonrpc": "2.0", "method": "$/cancelRequest", "params": null}',
    "a list as id": b'{"jsonrpc": "2.0", "id": [1], "method": "textDocument/hover", "params": {}}',
    "an object of nothing": b"{}",
    "a list": b"[1, 2]",
    "deep objects": b'{"a":' * 3_000 + b"1" + b"}" * 3_000,
    "deep lists": b"[" * 100_000 + b"]" * 100_000,
    "a reply to nothing": b'{"jsonrpc": "2.0", "id": "never asked", "result": 1}',
}


@pytest.mark.parametrize("body", MALFORMED.values(), ids=MALFORMED.keys())
def test_the_server_answers_on_after_a_message_that_is_none(connect, body):
    client = connect()
    client.begin()
    client.send_bytes(body)
    client.open("file:///work/f.py", "x = 1\n")
    assert client.request("textDocument/documentSymbol", textDocument={"uri": "file:///work/f.py"})["result"] == []
    client.process.stdin.close()
    assert client.process.wait(60) == 1


@pytest.mark.parametrize("length", [b"abc", b"-5"])
def test_a_frame_without_a_length_ends_the_input_and_the_server(connect, length):
    client = connect()
    client.begin()
    client.writing.write(b"Content-Length: %b\r\n\r\n{}" % length)
    client.writing.flush()
    assert client.process.wait(60) == 1


@pytest.mark.parametrize("arguments", ["abc", [1], {"a": 1}, 4])
def test_arguments_that_are_no_list_of_texts_run_nothing(connect, tmp_path, arguments):
    script = tmp_path / "writes.py"
    script.write_text("open('it ran', 'w').close()\n")
    client = connect()
    client.begin()
    given = {"command": "kinetoscope.profileWithArguments", "arguments": [script.as_uri(), None, arguments]}
    assert "error" in client.request("workspace/executeCommand", **given)
    assert client.request("workspace/executeCommand", command="kinetoscope.cancel")["result"] is False
    assert not (tmp_path / "it ran").exists()


def test_what_is_sent_in_a_wrong_way_is_answered_with_an_error(connect):
    client = connect()
    client.begin()
    few = client.request("workspace/executeCommand", command="kinetoscope.profileFile")
    assert few["error"]["code"] == -32602
    wrong = client.request("workspace/executeCommand", command="kinetoscope.profileRegion", arguments=["u", "x", []])
    assert wrong["error"]["code"] == -32602
    document = {"uri": "file:///work/f.py", "languageId": "python", "version": 1, "text": "x = 1\n"}
    assert client.request("textDocument/didOpen", textDocument=document)["error"]["code"] == -32600
    assert client.request("no/such")["error"]["code"] == -32601
