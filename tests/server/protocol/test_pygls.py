"""What we rely on in pygls beyond its public face; when this fails, look at protocol.py before anything else."""

from importlib.metadata import version

from lsprotocol import types as lsp
from pygls.protocol import LanguageServerProtocol

from kinetoscope_server.protocol.pygls_protocol import PlainNotification, PlainRequest, Protocol
from kinetoscope_server.server import KinetoscopeServer


class Written:
    """Takes what would go to the client."""

    def __init__(self):
        self.data = b""

    def write(self, data):
        self.data += data

    def close(self):
        pass


async def speaking():
    server = KinetoscopeServer()
    written = Written()
    server.protocol.set_writer(written)
    return server.protocol, written


def test_it_is_a_pygls_that_was_tried():
    assert version("pygls") in {"2.0.1", "2.1.0", "2.1.1"}  # docs/versions.md
    assert version("lsprotocol") == "2025.0.0"


async def test_the_private_names_that_are_overridden_or_used_are_there():
    protocol, _ = await speaking()
    for name in ("_send_data", "_send_response", "_serialize_message"):
        assert callable(getattr(LanguageServerProtocol, name)), name
    assert protocol._request_futures == {}
    assert protocol._shutdown is False
    assert protocol._workspace is None


async def test_all_that_is_sent_goes_through_our_codec():
    protocol, written = await speaking()
    protocol.notify("window/logMessage", lsp.LogMessageParams(lsp.MessageType.Log, "\ud800"))
    protocol.notify("kinetoscope/progress", {"phase": None})
    protocol.send_request("kinetoscope/save", {"uris": []}, msg_id="1")
    protocol._send_response(2, result=None)
    bodies = [part.partition(b"\r\n\r\n")[2] for part in written.data.split(b"Content-Length: ")[1:]]
    assert b'"\\ud800"' in bodies[0]
    assert bodies[1] == b'{"method":"kinetoscope/progress","params":{"phase":null},"jsonrpc":"2.0"}'
    assert b'"id":"1"' in bodies[2]
    assert bodies[3] == b'{"id":2,"jsonrpc":"2.0","result":null}'


async def test_messages_of_ours_keep_their_parameters_as_plain_values():
    protocol, _ = await speaking()
    assert protocol.get_message_type("kinetoscope/profile") is PlainRequest
    assert protocol.get_message_type("kinetoscope/results") is PlainNotification
    assert protocol.get_message_type("textDocument/hover") is lsp.HoverRequest
    message = {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "kinetoscope/profile",
        "params": {"uri": "u", "name": {"jsonrpc": 1}},
    }
    assert protocol.structure_message(message).params == message["params"]


async def test_our_handlers_stand_in_place_of_pygls_own():
    protocol, _ = await speaking()
    for method in (lsp.TEXT_DOCUMENT_DID_OPEN, lsp.TEXT_DOCUMENT_DID_CHANGE, lsp.SHUTDOWN, lsp.EXIT):
        assert protocol.fm.builtin_features[method].__func__.__module__ == Protocol.__module__, method
