"""What the VS Code extension carries, made once for each worker of the tests, and a client for the server in it."""

import importlib.util
import os
import sys
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio
from lsprotocol import types as lsp
from pytest_lsp import ClientServerConfig, LanguageClient, make_test_lsp_client

ROOT = Path(__file__).parents[2]


def bundling() -> Any:
    """scripts/bundle.py as a module."""
    spec = importlib.util.spec_from_file_location("bundle", ROOT / "scripts" / "bundle.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="session")
def bundled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder as a VSIX for this machine has it, with a path that needs care."""
    folder = tmp_path_factory.mktemp("bundle") / "Erweiterung für Python"
    script = bundling()
    script.bundle(script.this_machine(), folder)
    return folder


Start = Callable[..., Any]


@pytest_asyncio.fixture
async def start(bundled: Path, tmp_path: Path) -> AsyncIterator[Start]:
    """Starts the server in the bundle as the extension does, with the workspace `tmp_path`."""
    clients: list[LanguageClient] = []

    async def started(interpreter: str = sys.executable, *flags: str, **environment: str) -> LanguageClient:
        command = [interpreter, "-I", *flags, str(bundled / "serve.py")]
        env = {**os.environ, "XDG_CACHE_HOME": str(tmp_path / "cache"), **environment}
        env.pop("VIRTUAL_ENV", None)
        config = ClientServerConfig(server_command=command, client_factory=make_test_lsp_client, server_env=env)
        client = await config.start()
        clients.append(client)
        await client.initialize_session(
            lsp.InitializeParams(
                capabilities=lsp.ClientCapabilities(),
                workspace_folders=[lsp.WorkspaceFolder(tmp_path.as_uri(), "work")],
                initialization_options={"interpreter": interpreter},
            )
        )
        return client

    yield started
    for client in clients:
        await client.shutdown_session()
        await client.stop()
        assert client.error is None
