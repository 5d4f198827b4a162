"""Foreign text in what is said to people, and frames that nobody means."""

import io

import pytest
from lsprotocol import types
from pygls.protocol.json_rpc import JsonRPCNotification

from kinetoscope_server.protocol.transport import frames
from kinetoscope_server.text.foreign import escaped, harmless, plain

LINK = "[Click](command:kinetoscope.profileFile)"


def test_a_link_in_a_message_is_text():
    assert plain(f"{LINK} \x1b[31m\nnext") == "[Click] (command:kinetoscope.profileFile) \\x1b[31m\nnext"
    assert len(plain("n" * 10_000_000)) == 4_000


@pytest.mark.parametrize(
    "params",
    [
        types.ShowMessageParams(types.MessageType.Error, LINK),
        types.ShowMessageRequestParams(types.MessageType.Error, LINK),
        types.ProgressParams("t", types.WorkDoneProgressBegin(title=LINK, message=LINK)),
        types.ProgressParams("t", types.WorkDoneProgressEnd(message=LINK)),
        {"how": "failed", "message": LINK, "title": LINK},
    ],
)
def test_what_a_client_shows_leaves_without_links(params):
    sent = JsonRPCNotification(method="m", jsonrpc="2.0", params=params)
    harmless(sent)
    assert "](" not in repr(sent)


def test_an_error_leaves_without_links():
    class Answer:
        error = types.ResponseError(code=1, message=LINK)

    harmless(Answer())
    assert "](" not in Answer.error.message


def test_a_log_stays_as_it_is():
    sent = JsonRPCNotification(method="m", jsonrpc="2.0", params=types.LogMessageParams(types.MessageType.Log, LINK))
    harmless(sent)
    assert LINK in repr(sent)


def test_entities_and_links_in_markdown_are_text():
    assert escaped("&lt;[a](b)") == "\\&lt;\\[a\\]\\(b\\)"


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("https://a.example/x", "https\\://a.example/x"),
        ("_www.a.example", "\\_www\\.a.example"),
        ("WWW.A.EXAMPLE", "WWW\\.A.EXAMPLE"),
        ("me@a.example", "me\\@a.example"),
        ("train.py:12", "train.py:12"),
    ],
)
def test_bare_addresses_in_markdown_are_text(name, shown):
    assert escaped(name) == shown


@pytest.mark.parametrize(
    "header",
    [
        b"Content-Length: 1000000000000\r\n\r\n",
        b"Content-Length: -5\r\n\r\n",
        b"Content-Length: 1_0\r\n\r\n",
        b"Content-Length: " + b"9" * 5_000 + b"\r\n\r\n",
        b"Content-Length: 2\r\nContent-Length: 3\r\n\r\n{}",
        b"x" * 100_000,
    ],
)
def test_a_frame_that_nobody_means_is_a_clean_end(header):
    with pytest.raises(ValueError, match=r"message|header"):
        list(frames(io.BytesIO(b"Content-Length: 2\r\n\r\n{}" + header)))


def test_frames_with_other_headers_are_read():
    text = b"Content-Type: x; charset=latin-1\r\ncontent-length:2\r\n\r\n{}"
    assert list(frames(io.BytesIO(text))) == [b"{}"]
