"""A minimal editor over stdio, from the standard library alone: a GPU machine has no client library."""

import json
import os
import queue
import subprocess
import sys
import threading
import time
from pathlib import Path

CAPABILITIES = {
    "general": {"positionEncodings": ["utf-16"]},
    "textDocument": {"inlayHint": {"resolveSupport": {"properties": ["tooltip"]}}, "codeLens": {}},
    "workspace": {"inlayHint": {"refreshSupport": True}, "codeLens": {"refreshSupport": True}},
    "window": {"workDoneProgress": True},
}


class Editor:
    """One server and one open file. What the server says is kept; what it asks is answered with null."""

    def __init__(self, root, script, cache, **settings):
        command = [sys.executable, "-m", "kinetoscope_server"]
        env = {**os.environ, "XDG_CACHE_HOME": str(cache)}
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=env)
        self._messages = queue.Queue()
        threading.Thread(target=self._read, daemon=True).start()
        self._ids = 0
        self._answers = {}
        self.refreshes = 0
        self.shown = []
        self.diagnostics = {}
        self.request(
            "initialize",
            processId=os.getpid(),
            rootUri=root.as_uri(),
            workspaceFolders=[{"uri": root.as_uri(), "name": root.name}],
            capabilities=CAPABILITIES,
            initializationOptions={"interpreter": sys.executable, **settings},
        )
        self._send(method="initialized", params={})
        self.uri = script.as_uri()
        text = Path(script).read_text(encoding="utf-8")
        self.document = {"uri": self.uri}
        opened = {"uri": self.uri, "languageId": "python", "version": 1, "text": text}
        self._send(method="textDocument/didOpen", params={"textDocument": opened})
        self._everywhere = {
            "start": {"line": 0, "character": 0},
            "end": {"line": len(text.splitlines()), "character": 0},
        }

    def request(self, method, within_s=30, **params):
        self._ids += 1
        wanted = self._ids
        self._send(id=wanted, method=method, params=params)
        self.until(lambda: wanted in self._answers, f"answer to {method}", within_s)
        answer = self._answers.pop(wanted)
        assert "error" not in answer, (method, answer["error"])
        return answer["result"]

    def command(self, name, *arguments):
        return self.request("workspace/executeCommand", command=f"kinetoscope.{name}", arguments=list(arguments))

    def until(self, holds, what, within_s):
        """Takes messages until something holds."""
        ends = time.monotonic() + within_s
        while not holds():
            try:
                message = self._messages.get(timeout=max(ends - time.monotonic(), 0))
            except queue.Empty:
                raise AssertionError(f"no {what} within {within_s} s; shown: {self.shown}") from None
            assert message is not None, f"the server has ended, and there is no {what}"
            self._take(message)

    def hints(self):
        """The text of each hint by its row."""
        found = self.request("textDocument/inlayHint", textDocument=self.document, range=self._everywhere)
        return {hint["position"]["line"]: "".join(part["value"] for part in hint["label"]) for hint in found or []}

    def lenses(self):
        """Row and title of each."""
        found = self.request("textDocument/codeLens", textDocument=self.document) or []
        return [(lens["range"]["start"]["line"], lens["command"]["title"]) for lens in found]

    def hover(self, row):
        found = self.request("textDocument/hover", textDocument=self.document, position={"line": row, "character": 8})
        return found["contents"]["value"]

    def codes(self, row):
        """The codes of the diagnostics at a row."""
        found = self.diagnostics.get(self.uri, [])
        return [each["code"] for each in found if each["range"]["start"]["line"] == row]

    def close(self):
        """Ends the server as an editor does; returns its exit code."""
        self.request("shutdown")
        self._send(method="exit")
        return self._process.wait(20)

    def kill(self):
        self._process.kill()
        self._process.wait()

    def _send(self, **message):
        body = json.dumps({"jsonrpc": "2.0", **message}).encode()
        self._process.stdin.write(b"Content-Length: %d\r\n\r\n%b" % (len(body), body))
        self._process.stdin.flush()

    def _read(self):
        stream = self._process.stdout
        while True:
            length = 0
            while line := stream.readline().strip():
                name, _, value = line.partition(b":")
                if name.lower() == b"content-length":
                    length = int(value)
            if not length:
                self._messages.put(None)
                return
            self._messages.put(json.loads(stream.read(length)))

    def _take(self, message):
        method, params = message.get("method"), message.get("params")
        if method is None:
            self._answers[message["id"]] = message
            return
        if "id" in message:
            self._send(id=message["id"], result=None)
        if method == "workspace/inlayHint/refresh":
            self.refreshes += 1
        elif method == "window/showMessage":
            self.shown.append(params["message"])
        elif method == "textDocument/publishDiagnostics":
            self.diagnostics[params["uri"]] = params["diagnostics"]


def profile(editor, row, name, arguments):
    """Profiles the region with these arguments; returns its hint and the seconds from click to hint."""
    before, shown = editor.hints().get(row), len(editor.shown)
    start = time.monotonic()
    editor.command("profileWithArguments", editor.uri, row, arguments)
    while True:
        refreshes = editor.refreshes
        hint = editor.hints().get(row)
        if hint not in (None, before):
            break
        editor.until(lambda: editor.refreshes > refreshes, "refresh of the hints", 120)  # noqa: B023 - called at once
    seconds = time.monotonic() - start
    editor.until(lambda: len(editor.shown) > shown, "message at the end", 30)
    print(f"{name} {' '.join(arguments)}: {hint!r}, {seconds:.2f} s from click to hint")
    return hint, seconds
