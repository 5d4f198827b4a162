"""The real server over stdio, met as VS Code meets it and as a minimal client does."""

import asyncio
import itertools
import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unittest import mock

import pytest
import pytest_asyncio
from lsprotocol import types as lsp
from lsprotocol.converters import get_converter
from pygls.protocol import default_converter
from pytest_lsp import ClientServerConfig, LanguageClient
from pytest_lsp.client import register_lsp_features

HERE = Path(__file__).parent
SCRIPTS = HERE / "scripts"
REFRESHES = (lsp.WORKSPACE_INLAY_HINT_REFRESH, lsp.WORKSPACE_CODE_LENS_REFRESH)
COMMAND = [sys.executable, "-m", "kinetoscope_server"]


@dataclass
class Answer:
    """A response whose result stays the JSON that came; pygls makes objects of it."""

    id: str
    jsonrpc: str
    result: Any


class Editor(LanguageClient):
    """The test client, with answers to what our server asks, and a record of it."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.refreshed: list[str] = []
        self.asked: list[lsp.ShowMessageRequestParams] = []
        self.answer: str | asyncio.Future[str | None] | Callable[[Any], str | None] | None = None
        self.asked_to_choose: list[Any] = []
        self.on_choose: Any = lambda _params: None
        self.asked_to_save: list[list[str]] = []
        self.on_save: Any = lambda: False
        self.results: dict[str, Any] = {}
        self.progress: list[Any] = []
        self.warm: list[Any] = []
        self.runs_changed = 0
        self.swept: list[Any] = []
        self.interpreter = sys.executable
        self.workspace_path = Path()
        self._numbers = itertools.count()

    async def until(self, holds: Any, what: str, within_s: float = 30.0) -> Any:
        """Waits until something holds, which messages of the server bring about."""
        ends = time.monotonic() + within_s
        while not (found := holds()):
            assert time.monotonic() < ends, f"no {what} within {within_s} s"
            await asyncio.sleep(0.01)
        return found

    def kill_server(self) -> None:
        self._stop_event.set()  # its end is then no error
        self._server.kill()

    def write(self, name: str, text: str) -> str:
        path = self.workspace_path / name
        path.write_text(text, encoding="utf-8")
        return path.as_uri()

    def copy(self, name: str) -> str:
        path = self.workspace_path / name
        shutil.copy(SCRIPTS / name, path)
        return path.as_uri()

    def open(self, uri: str, text: str | None = None, version: int = 1) -> None:
        if text is None:
            text = Path(uri.removeprefix("file://")).read_bytes().decode()
        item = lsp.TextDocumentItem(uri, "python", version, text)
        self.text_document_did_open(lsp.DidOpenTextDocumentParams(item))

    def replace(self, uri: str, version: int, start: tuple[int, int], end: tuple[int, int], text: str) -> None:
        change = lsp.TextDocumentContentChangePartial(
            range=lsp.Range(lsp.Position(*start), lsp.Position(*end)), text=text
        )
        document = lsp.VersionedTextDocumentIdentifier(version, uri)
        self.text_document_did_change(lsp.DidChangeTextDocumentParams(document, [change]))

    async def hints(self, uri: str, first: int = 0, last: int = 100_000) -> list[lsp.InlayHint]:
        asked = lsp.Range(lsp.Position(first, 0), lsp.Position(last, 0))
        return (
            await self.text_document_inlay_hint_async(lsp.InlayHintParams(lsp.TextDocumentIdentifier(uri), asked)) or []
        )

    async def hint_texts(self, uri: str) -> dict[int, str]:
        return {hint.position.line: self.text_of(hint) for hint in await self.hints(uri)}

    @staticmethod
    def text_of(hint: lsp.InlayHint) -> str:
        return hint.label if isinstance(hint.label, str) else "".join(part.value for part in hint.label)

    async def lenses(self, uri: str) -> list[tuple[int, str]]:
        found = await self.text_document_code_lens_async(lsp.CodeLensParams(lsp.TextDocumentIdentifier(uri))) or []
        return [(lens.range.start.line, lens.command.title) for lens in found if lens.command]

    async def tooltips(self, uri: str) -> dict[tuple[int, str], str | None]:
        found = await self.text_document_code_lens_async(lsp.CodeLensParams(lsp.TextDocumentIdentifier(uri))) or []
        lenses = ((lens.range.start.line, lens.command) for lens in found)
        return {(row, command.title): command.tooltip for row, command in lenses if command}

    async def run_lens(self, uri: str, title: str, row: int | None = None) -> Any:
        found = await self.text_document_code_lens_async(lsp.CodeLensParams(lsp.TextDocumentIdentifier(uri))) or []
        lens = next(
            lens
            for lens in found
            if lens.command and lens.command.title == title and row in (None, lens.range.start.line)
        )
        return await self.execute(lens.command.command, *(lens.command.arguments or []))

    async def execute(self, command: str, *arguments: Any) -> Any:
        return await self.workspace_execute_command_async(lsp.ExecuteCommandParams(command, list(arguments)))

    async def code_actions(
        self,
        uri: str,
        line: int,
        only: list[str] | None = None,
        about: list[lsp.Diagnostic] | None = None,
        last: int | None = None,
    ) -> dict[str, Any]:
        """By title, and as the JSON that came: the client's own types take each of them for a plain command.

        Asked for as the cursor moves; with `last`, for a selection of whole lines up to that one. About all diagnostics
        of the file, if not said otherwise.
        """
        place = lsp.Range(lsp.Position(line, 6), lsp.Position(line, 6))
        if last is not None:
            place = lsp.Range(lsp.Position(line, 0), lsp.Position(last + 1, 0))
        diagnostics = list(self.diagnostics.get(uri, [])) if about is None else about
        context = lsp.CodeActionContext(diagnostics, only, lsp.CodeActionTriggerKind.Automatic)
        params = lsp.CodeActionParams(lsp.TextDocumentIdentifier(uri), place, context)
        sent = self.protocol.send_request(lsp.TEXT_DOCUMENT_CODE_ACTION, params, msg_id="actions")
        self.protocol._result_types.pop("actions")
        return {action["title"]: action for action in await asyncio.wrap_future(sent)}

    async def chosen(self, action: dict[str, Any]) -> dict[str, Any]:
        """The code action with its edit, which is asked for where it has none."""
        if "edit" in action:
            return action
        asked = lsp.CodeAction(action["title"], action["kind"], data=action["data"])
        return await self.ask(lsp.CODE_ACTION_RESOLVE, asked)

    async def ask(self, method: str, params: Any) -> Any:
        """The answer to a request of ours, as the JSON that came."""
        identity = f"asked-{next(self._numbers)}"
        sent = self.protocol.send_request(method, params, msg_id=identity)
        self.protocol._result_types[identity] = Answer
        return await asyncio.wrap_future(sent)

    def close(self, uri: str) -> None:
        self.text_document_did_close(lsp.DidCloseTextDocumentParams(lsp.TextDocumentIdentifier(uri)))

    async def until_lenses(self, uri: str, holds: Any) -> None:
        """Asks for the lenses until they are as they should be."""
        while not holds(await self.lenses(uri)):  # noqa: ASYNC110 - only the server knows
            await asyncio.sleep(0.02)

    async def diagnosed(self, uri: str) -> list[lsp.Diagnostic]:
        """The diagnostics of a file that has some; a message may be there first, as they wait for settings."""
        return await self.until(lambda: self.diagnostics.get(uri), "diagnostics")

    async def message(self, within_s: float = 60.0) -> lsp.ShowMessageParams:
        """The next message that was shown and not taken yet."""
        await self.until(lambda: self.messages, "a message", within_s)
        return self.messages.pop(0)

    async def hover(self, uri: str, line: int, character: int = 4) -> str | None:
        found = await self.text_document_hover_async(
            lsp.HoverParams(lsp.TextDocumentIdentifier(uri), lsp.Position(line, character))
        )
        return None if found is None else found.contents.value


def make_client() -> Editor:
    client = Editor(converter_factory=default_converter)
    register_lsp_features(client)
    for method in REFRESHES:
        client.feature(method)(lambda *_, method=method: client.refreshed.append(method))

    @client.feature(lsp.WINDOW_SHOW_MESSAGE_REQUEST)
    async def _(params: lsp.ShowMessageRequestParams) -> lsp.MessageActionItem | None:
        client.asked.append(params)
        answer = client.answer(params) if callable(client.answer) else client.answer
        answer = await answer if isinstance(answer, asyncio.Future) else answer
        return None if answer is None else lsp.MessageActionItem(answer)

    @client.feature(lsp.CLIENT_REGISTER_CAPABILITY)
    def _(params: lsp.RegistrationParams) -> None:
        return None

    @client.feature("kinetoscope/results")
    def _(params: Any) -> None:
        client.results[params.uri] = params

    @client.feature("kinetoscope/progress")
    def _(params: Any) -> None:
        client.progress.append(params)

    @client.feature("kinetoscope/warm")
    def _(params: Any) -> None:
        client.warm.append(params)

    @client.feature("kinetoscope/choose")
    def _(params: Any) -> Any:
        client.asked_to_choose.append(params)
        return client.on_choose(params)

    @client.feature("kinetoscope/swept")
    def _(params: Any) -> None:
        client.swept.append(params)

    @client.feature("kinetoscope/runsChanged")
    def _(_: Any) -> None:
        client.runs_changed += 1

    @client.feature("kinetoscope/save")
    def _(params: Any) -> bool:
        client.asked_to_save.append(list(params.uris))
        return client.on_save()

    return client


def vscode() -> lsp.ClientCapabilities:
    recorded = json.loads((HERE / "capabilities-1.100.json").read_text())
    wishes = (
        *("results", "progress", "save", "choose", "warm", "runsChanged", "swept"),
        *("diagnosticsInHover", "commandLinks"),
    )
    recorded["experimental"] = {"kinetoscope": dict.fromkeys(wishes, True)}
    return get_converter().structure(recorded, lsp.ClientCapabilities)


def minimal() -> lsp.ClientCapabilities:
    """A client that promises nothing, and counts as utf-8."""
    return lsp.ClientCapabilities(
        general=lsp.GeneralClientCapabilities(
            position_encodings=[lsp.PositionEncodingKind.Utf8, lsp.PositionEncodingKind.Utf16]
        )
    )


PROFILES = {"vscode": vscode, "minimal": minimal}


class Starter:
    """Starts servers for a test and ends them with it."""

    def __init__(self, tmp_path: Path, popen: Any) -> None:
        self._popen = popen
        self.workspace = tmp_path / "work"
        self.workspace.mkdir()
        self.cache = tmp_path / "cache"
        self.clients: list[Editor] = []

    async def __call__(
        self, profile: str = "vscode", settings: Any = None, options: Sequence[str] = (), **environment: str
    ) -> Editor:
        env = {**os.environ, "XDG_CACHE_HOME": str(self.cache), "OMP_NUM_THREADS": "1", **environment}
        env.pop("VIRTUAL_ENV", None)
        config = ClientServerConfig(server_command=[*COMMAND, *options], client_factory=make_client, server_env=env)
        with mock.patch("subprocess.Popen", self._popen):
            client: Editor = await config.start()
        self.clients.append(client)
        client.workspace_path = self.workspace
        settings = {"interpreter": sys.executable, **(settings or {})}
        if profile == "vscode":
            client.set_configuration(settings, section="kinetoscope")
        started = await client.initialize_session(
            lsp.InitializeParams(
                capabilities=PROFILES[profile](),
                root_uri=self.workspace.as_uri(),
                workspace_folders=[lsp.WorkspaceFolder(self.workspace.as_uri(), "work")],
                initialization_options={"kinetoscope": settings},
            )
        )
        client.server_capabilities = started.capabilities
        assert started.capabilities.position_encoding == {"vscode": "utf-16", "minimal": "utf-8"}[profile]
        return client

    async def end(self) -> None:
        for client in self.clients:
            if client.error is None and client._server.returncode is None and not client.stopped:
                await client.shutdown_session()
            await client.stop()
            assert client.error is None, client.error


@pytest_asyncio.fixture
async def start(tmp_path: Path, popen: Any) -> AsyncIterator[Starter]:
    starter = Starter(tmp_path, popen)
    yield starter
    await starter.end()


class Raw:
    """A client that sends frames and reads them, nothing more. What is asked of it is for `reply`."""

    def __init__(self, reading: Any, writing: Any) -> None:
        self.reading = reading
        self.writing = writing
        self.notified: list[dict[str, Any]] = []
        self.reply: Any = lambda message: self.send(id=message["id"], result=None)
        self._numbers = itertools.count(1)

    def send(self, **message: Any) -> None:
        self.send_bytes(json.dumps({"jsonrpc": "2.0", **message}).encode())

    def send_bytes(self, body: bytes) -> None:
        self.writing.write(b"Content-Length: %d\r\n\r\n%b" % (len(body), body))
        self.writing.flush()

    def request(self, method: str, **params: Any) -> Any:
        identity = next(self._numbers)
        self.send(id=identity, method=method, params=params)
        return self.answer(identity)

    def answer(self, identity: Any) -> Any:
        while True:
            message = self.read()
            if message.get("id") == identity and "method" not in message:
                return message
            if "id" in message:
                self.reply(message)
            else:
                self.notified.append(message)

    def read(self) -> Any:
        length = 0
        while (line := self.reading.readline()) not in (b"\r\n", b""):
            assert line.lower().startswith(b"content-"), line
            if line.lower().startswith(b"content-length:"):
                length = int(line.split(b":")[1])
        assert line, "the server closed its output"
        return json.loads(self.reading.read(length))

    def begin(self, **params: Any) -> Any:
        answer = self.request("initialize", **{"processId": None, "rootUri": None, "capabilities": {}, **params})
        self.send(method="initialized", params={})
        return answer

    def open(self, uri: str, text: str) -> None:
        document = {"uri": uri, "languageId": "python", "version": 1, "text": text}
        self.send(method="textDocument/didOpen", params={"textDocument": document})

    def execute(self, command: str, *arguments: Any) -> Any:
        return self.request("workspace/executeCommand", command=command, arguments=list(arguments)).get("result")

    def shown(self) -> list[str]:
        return [each["params"]["message"] for each in self.notified if each["method"] == "window/showMessage"]

    def until(self, holds: Any, what: str, within_s: float = 60.0) -> None:
        """Reads what comes until something holds."""
        ends = time.monotonic() + within_s
        while not holds():
            assert time.monotonic() < ends, f"no {what} within {within_s} s"
            self.request("textDocument/documentSymbol", textDocument={"uri": "file:///never"})
            time.sleep(0.01)


class Connector:
    """Starts servers for clients that send frames, and ends them."""

    server = COMMAND

    def __init__(self, folder: Path, popen: Any) -> None:
        self._folder = folder
        self._popen = popen
        self.errors = folder / "errors.txt"
        self._processes: list[subprocess.Popen[bytes]] = []

    def __call__(self, command: list[str] = COMMAND) -> Raw:
        environment = {**os.environ, "XDG_CACHE_HOME": str(self._folder / "cache")}
        # Not a pipe: nobody would read it, and the server wait once it is full.
        with self.errors.open("ab") as errors:
            process = self._popen(
                command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=errors,
                env=environment,
                cwd=self._folder,
            )
        self._processes.append(process)
        client = self.over(process.stdout, process.stdin)
        client.process = process
        return client

    @staticmethod
    def over(reading: Any, writing: Any) -> Raw:
        return Raw(reading, writing)

    def end(self) -> None:
        for process in self._processes:
            process.kill()
            for stream in (process.stdin, process.stdout):
                stream.close()
            process.wait()


@pytest.fixture
def connect(tmp_path: Path, popen: Any) -> Iterator[Connector]:
    connector = Connector(tmp_path, popen)
    yield connector
    connector.end()
