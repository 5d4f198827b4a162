"""A client of a language server for the benchmarks: frames over stdio, one request at a time."""

import json
import os
import subprocess
from pathlib import Path
from typing import IO, Any


class Client:
    """Starts the server. What it notifies is passed over, what it asks is answered with null."""

    def __init__(self, command: list[str], cache: Path, log: IO[bytes] | int = subprocess.DEVNULL) -> None:
        environment = {**os.environ, "XDG_CACHE_HOME": str(cache)}
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log, env=environment
        )
        self.ids = 0

    def send(self, **message: Any) -> None:
        assert self.process.stdin
        body = json.dumps({"jsonrpc": "2.0", **message}).encode()
        self.process.stdin.write(b"Content-Length: %d\r\n\r\n%b" % (len(body), body))
        self.process.stdin.flush()

    def notify(self, method: str, **params: Any) -> None:
        self.send(method=method, params=params)

    def request(self, method: str, **params: Any) -> Any:
        self.ids += 1
        self.send(id=self.ids, method=method, params=params)
        while True:
            message = self.read()
            if message.get("id") == self.ids and "method" not in message:
                assert "error" not in message, message
                return message["result"]
            if "id" in message and "method" in message:
                self.send(id=message["id"], result=None)

    def read(self) -> Any:
        assert self.process.stdout
        length = 0
        while line := self.process.stdout.readline().strip():
            if line.lower().startswith(b"content-length:"):
                length = int(line.split(b":")[1])
        return json.loads(self.process.stdout.read(length))

    def cpu_s(self) -> float | None:
        """Processor time of the server so far, in seconds; steadier than the clock beside other work. Linux only."""
        tasks = Path(f"/proc/{self.process.pid}/task")
        if not tasks.exists():
            return None
        return sum(int((task / "schedstat").read_text().split()[0]) for task in tasks.iterdir()) / 1e9

    def begin(self, **params: Any) -> None:
        capabilities = {"textDocument": {"documentSymbol": {"hierarchicalDocumentSymbolSupport": True}}}
        self.request("initialize", processId=None, rootUri=None, capabilities=capabilities, **params)
        self.notify("initialized")

    def open(self, uri: str, text: str) -> None:
        document = {"uri": uri, "languageId": "python", "version": 1, "text": text}
        self.notify("textDocument/didOpen", textDocument=document)

    def end(self) -> None:
        self.request("shutdown")
        self.send(method="exit")
        self.process.wait(10)
