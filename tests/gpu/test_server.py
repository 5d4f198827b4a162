"""The language server over stdio, as an editor drives it, on a real GPU."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]

SCRIPT = ROOT / "examples" / "matmul_add.py"


class Editor:
    """Frames over stdio; what is not an answer is kept by method."""

    def __init__(self):
        command = [sys.executable, "-m", "kinetoscope_server"]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=os.environ)
        self.notified = {}
        self.ids = 0

    def send(self, **message):
        body = json.dumps({"jsonrpc": "2.0", **message}).encode()
        self.process.stdin.write(b"Content-Length: %d\r\n\r\n%b" % (len(body), body))
        self.process.stdin.flush()

    def request(self, method, **params):
        self.ids += 1
        self.send(id=self.ids, method=method, params=params)
        while True:
            length = 0
            while line := self.process.stdout.readline().strip():
                length = int(line.split(b":")[1])
            message = json.loads(self.process.stdout.read(length))
            if message.get("id") == self.ids and "method" not in message:
                assert "error" not in message, message
                return message["result"]
            if "method" in message:
                self.notified[message["method"]] = message["params"]


@pytest.mark.gpu
@pytest.mark.parametrize(("size", "bound"), [(64, "overhead-bound"), (4096, "compute-bound")])
def test_the_server_profiles_matmul_add_and_shows_cuda_times_beside_its_line(size, bound):
    editor = Editor()
    options = {"interpreter": sys.executable, "arguments": ["--size", str(size)]}
    editor.request("initialize", processId=None, rootUri=ROOT.as_uri(), capabilities={}, initializationOptions=options)
    editor.send(method="initialized", params={})
    document = {"uri": SCRIPT.as_uri()}
    text = SCRIPT.read_text()
    opened = {**document, "languageId": "python", "version": 1, "text": text}
    editor.send(method="textDocument/didOpen", params={"textDocument": opened})
    row = next(number for number, line in enumerate(text.splitlines()) if 'record_function("matmul_add")' in line)

    answer = editor.request("kinetoscope/profile", uri=SCRIPT.as_uri(), line=row, name="matmul_add")
    print(answer["message"])
    assert answer["how"] == "measured", answer

    everywhere = {"start": {"line": 0, "character": 0}, "end": {"line": 1000, "character": 0}}
    (hint,) = editor.request("textDocument/inlayHint", textDocument=document, range=everywhere)
    label = "".join(part["value"] for part in hint["label"])
    print(label)
    assert hint["position"]["line"] == row
    assert re.fullmatch(r"CUDA [\d.]+ (µs|ms) · CPU [\d.]+ (µs|ms)( \([\d.]+ µs\))?", label), label
    assert len(label) <= 43
    hover = editor.request("textDocument/hover", textDocument=document, position={"line": row, "character": 8})
    assert "H200" in hover["contents"]["value"] or "NVIDIA" in hover["contents"]["value"]
    assert "| CUDA busy |" in hover["contents"]["value"]
    assert [each["code"] for each in editor.notified["textDocument/publishDiagnostics"]["diagnostics"]] == [bound]
    link = editor.request(
        "workspace/executeCommand", command="kinetoscope.openTrace", arguments=[SCRIPT.as_uri(), row, "matmul_add"]
    )
    assert link.startswith("http://127.0.0.1:")
    editor.request("shutdown")
    editor.send(method="exit")
    assert editor.process.wait(20) == 0
