"""Handing a trace over: what is served to whom, for how long, and which part of the trace is to be shown."""

import gzip
import http.client
import logging
import re
import socket
import tracemalloc
from html import unescape
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kinetoscope_core.errors import TraceError, UsageError
from kinetoscope_core.perfetto import TimeRange, TraceClock, TraceServer, clock_of, time_range_of
from kinetoscope_core.perfetto.links import AFTER_REQUEST_S, UNOPENED_S
from kinetoscope_core.perfetto.page import perfetto_ui
from kinetoscope_core.perfetto.zoom import in_perfetto
from kinetoscope_core.results.measures import CallInTrace

TRACES = Path(__file__).parents[1] / "traces"
H200 = TRACES / "h200" / "matmul_add_4096_warm.json.gz"
MB = 2**20


class Clock:
    now_s = 0.0

    def __call__(self) -> float:
        return self.now_s


class Answer:
    """An answer of http.client, which itself does not wait for the other side to hang up."""

    def __init__(self, connection: http.client.HTTPConnection) -> None:
        self._socket = connection.sock.dup()
        self._answer = connection.getresponse()
        connection.close()  # the answer keeps its own hold of the socket

    def __getattr__(self, name):
        return getattr(self._answer, name)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        with self._socket, self._answer:
            if self._answer.isclosed():
                assert self._socket.recv(1) == b""


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def server(clock):
    with TraceServer(clock=clock) as server:
        yield server


@pytest.fixture
def plain(tmp_path):
    path = tmp_path / "trace-1.json"
    path.write_bytes(b'{"traceEvents": [%b]}' % b", ".join([b'{"ph": "i", "name": "x", "ts": 1}'] * 10_000))
    return path


@pytest.fixture
def large(tmp_path):
    """Looks gzipped; too large for the buffers of a socket, so that sending it takes as long as the reader likes."""
    return sparse(tmp_path / "large.json.gz", 64 * MB, b"\x1f\x8b")


def sparse(path: Path, size: int, head: bytes) -> Path:
    with path.open("wb") as file:
        file.write(head)
        file.truncate(size)
    return path


def trace_of(page: str) -> str:
    return page.removesuffix("perfetto") + "trace"


def request(link: str, method: str = "GET", *, hosts: list[str] | None = None, version: int = 11):
    """The open answer; `hosts` are the Host headers to send instead of the link's own.

    Leaving its context waits until the server is through with the request, if all was read.
    """
    parts = urlsplit(link)
    connection = http.client.HTTPConnection(parts.hostname, parts.port, timeout=20)
    connection._http_vsn, connection._http_vsn_str = version, f"HTTP/{version // 10}.{version % 10}"
    connection.putrequest(method, parts.path, skip_host=hosts is not None, skip_accept_encoding=True)
    for host in hosts or []:
        connection.putheader("Host", host)
    connection.endheaders()
    return Answer(connection)


def status_of(link: str, method: str = "GET", **more) -> int:
    with request(link, method, **more) as answer:
        answer.read()
        return answer.status


def body_of(link: str, **more) -> bytes:
    with request(link, **more) as answer:
        assert answer.status == 200
        return answer.read()


def policy_of(link: str) -> dict[str, str]:
    with request(link) as answer:
        directives = answer.headers["Content-Security-Policy"].split("; ")
        return dict(directive.split(" ", 1) for directive in directives)


def can_connect(link: str) -> bool:
    try:
        socket.create_connection((urlsplit(link).hostname, urlsplit(link).port), timeout=5).close()
    except ConnectionRefusedError:
        return False
    return True


# What is served


def test_a_gzipped_trace_arrives_as_it_is(server):
    link = server.link(H200, title="x")
    with request(trace_of(link)) as answer:
        assert answer.headers["Content-Length"] == str(H200.stat().st_size)
        assert answer.headers["Content-Encoding"] is None  # a browser would unpack it, and hand on ten times as much
        assert answer.read() == H200.read_bytes()


@pytest.mark.parametrize("version", [10, 11])
def test_a_plain_trace_arrives_compressed(server, plain, version):
    body = body_of(trace_of(server.link(plain, title="x")), hosts=["localhost"], version=version)
    assert gzip.decompress(body) == plain.read_bytes()
    assert len(body) < plain.stat().st_size / 20


def test_gzip_is_told_by_content_not_by_name(server, tmp_path):
    path = tmp_path / "trace.json"
    path.write_bytes(H200.read_bytes())
    assert body_of(trace_of(server.link(path, title="x"))) == H200.read_bytes()


def test_head_tells_the_size_and_sends_nothing(server, plain):
    for trace, size in ((H200, str(H200.stat().st_size)), (plain, None)):
        with request(trace_of(server.link(trace, title="x")), "HEAD") as answer:
            assert (answer.status, answer.headers["Content-Length"], answer.read()) == (200, size, b"")
    with request(server.link(H200, title="x"), "HEAD") as answer:
        assert (answer.status, answer.read()) == (200, b"")


def test_the_page_carries_title_zoom_and_file_name(server):
    zoom = TimeRange(5_094_702_768_160_404, 5_094_702_768_510_728)
    page = body_of(server.link(H200, title='a "b" <c> & {{nonce}} at t.py:3', zoom=zoom)).decode()
    values = {name: unescape(value) for name, value in re.findall(r'data-([\w-]+)="([^"]*)"', page)}
    assert values == {
        "perfetto": "https://ui.perfetto.dev/",
        "title": 'a "b" <c> & {{nonce}} at t.py:3',
        "file-name": H200.name,
        "zoom": "visStart=5094702768160404&visEnd=5094702768510728",
    }
    assert "<c>" not in page


def test_a_title_that_is_no_unicode_text_is_spelled_out(server):
    assert b"a\\udc80" in body_of(server.link(H200, title="a\udc80"))


def test_links_of_one_server_share_a_port_and_hold_their_own_trace(server, plain):
    links = [server.link(plain, title="a"), server.link(H200, title="b")]
    assert len({urlsplit(link).port for link in links}) == 1
    assert body_of(trace_of(links[1])) == H200.read_bytes()
    assert gzip.decompress(body_of(trace_of(links[0]))) == plain.read_bytes()


def test_a_trace_that_went_away_is_gone(server, plain):
    link = server.link(plain, title="x")
    plain.unlink()
    assert status_of(trace_of(link)) == 410


def test_a_link_needs_a_trace(server, tmp_path):
    for path in (tmp_path, tmp_path / "missing.json"):
        with pytest.raises(TraceError):
            server.link(path, title="x")


@pytest.mark.parametrize(
    ("address", "base", "origin"),
    [
        ("https://ui.perfetto.dev", "https://ui.perfetto.dev/", "https://ui.perfetto.dev"),
        ("http://localhost:10000/", "http://localhost:10000/", "http://localhost:10000"),
        ("https://Example.org:443/perfetto", "https://Example.org:443/perfetto/", "https://example.org"),
    ],
)
def test_the_ui_may_be_self_hosted(server, address, base, origin):
    assert (perfetto_ui(address).address, perfetto_ui(address).origin) == (base, origin)
    link = server.link(H200, title="x", perfetto_address=address)
    assert f'data-perfetto="{base}"'.encode() in body_of(link)
    assert policy_of(link)["frame-src"] == origin


@pytest.mark.parametrize(
    "address",
    [
        "",
        "ui.perfetto.dev",
        "javascript:alert(1)",
        "file:///tmp/ui",
        "https://",
        "https://a b",
        "https://a; script-src *",
        "https://a'b",
        "https://user:word@a",
        "https://a:port",
        "https://a/?x=1",
        "https://a/#!/",
    ],
)
def test_other_addresses_are_refused(server, address):
    with pytest.raises(UsageError):
        server.link(H200, title="x", perfetto_address=address)


# To whom


@pytest.mark.parametrize(
    "path",
    [
        "/",
        "/perfetto",
        "/trace",
        "/favicon.ico",
        "//trace",
        "/AAAAAAAAAAAAAAAAAAAAAA/trace",
        "/%C3%A9/trace",
        "/é/trace",
    ],
)
def test_without_the_secret_there_is_nothing(server, path):
    parts = urlsplit(server.link(H200, title="x"))
    with socket.create_connection((parts.hostname, parts.port), timeout=20) as connection:
        connection.sendall(f"GET {path} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode())
        assert connection.makefile("rb").readline().split()[1] == b"404"


@pytest.mark.parametrize(
    "name", ["", "trace/", "trace.json", "other", "../trace", "..%2f..%2fetc/passwd", "/etc/passwd"]
)
def test_below_the_secret_there_are_two_names_and_no_more(server, name):
    assert status_of(server.link(H200, title="x").removesuffix("perfetto") + name) == 404


def test_each_link_has_a_secret_of_128_bits(server):
    secrets = {urlsplit(server.link(H200, title="x")).path.split("/")[1] for _ in range(20)}
    assert len(secrets) == 20
    assert all(len(secret) >= 22 for secret in secrets)


@pytest.mark.parametrize(
    "hosts", [[], ["evil.example"], ["127.0.0.1.evil.example"], ["localhost", "evil.example"], ["["]]
)
def test_a_request_in_a_foreign_name_is_refused(server, hosts):
    link = server.link(H200, title="x")
    for each in (link, trace_of(link)):
        assert status_of(each, hosts=hosts, version=10 if not hosts else 11) == 421


@pytest.mark.parametrize("host", ["127.0.0.1:1", "localhost:4321", "LOCALHOST", "[::1]:80"])
def test_a_forwarded_port_on_the_users_machine_is_ours(server, host):
    assert status_of(server.link(H200, title="x"), hosts=[host]) == 200


def test_the_name_of_a_proxy_can_be_trusted(server):
    link = server.link(H200, title="x")
    assert status_of(link, hosts=["code.example.org"]) == 421
    server.trust_host("https://code.example.org/proxy/8080/")
    assert status_of(link, hosts=["code.example.org"]) == 200
    with pytest.raises(UsageError):
        server.trust_host("")
    assert status_of(link, hosts=[""]) == 421


def test_only_this_machine_is_listened_to(server):
    server.link(H200, title="x")
    assert server._listener.socket.getsockname()[0] == "127.0.0.1"


def test_no_other_origin_may_read_or_keep_anything(server):
    link = server.link(H200, title="x")
    for each in (link, trace_of(link), link + "x"):
        with request(each) as answer:
            headers = answer.headers
            assert not [name for name in headers if name.lower().startswith("access-control-")]
            assert headers["Cross-Origin-Resource-Policy"] == "same-origin"
            assert headers["Referrer-Policy"] == "no-referrer"
            assert headers["X-Content-Type-Options"] == "nosniff"
            assert headers["Cache-Control"] == "no-store"
            assert headers["Content-Security-Policy"].startswith("default-src 'none'")
            assert "Cross-Origin-Opener-Policy" not in headers  # would cut the page off from the window it opens


def test_the_page_runs_its_own_script_and_frames_perfetto_alone(server):
    link = server.link(H200, title="x")
    policies = [policy_of(link), policy_of(link)]
    assert policies[0]["script-src"] != policies[1]["script-src"]
    for policy in policies:
        assert re.fullmatch(r"'nonce-[\w-]{22}'", policy["script-src"])
        del policy["script-src"], policy["style-src"]
        assert policy == {
            "default-src": "'none'",
            "connect-src": "'self'",
            "frame-src": "https://ui.perfetto.dev",
            "base-uri": "'none'",
            "form-action": "'none'",
            "frame-ancestors": "'none'",
        }


def test_an_editor_may_be_allowed_to_show_the_page_in_a_tab():
    with TraceServer() as server:
        link = server.link(H200, title="x", embedders=["vscode-webview:", "https://*.vscode-cdn.net"])
        assert policy_of(link)["frame-ancestors"] == "vscode-webview: https://*.vscode-cdn.net"
        assert policy_of(server.link(H200, title="x"))["frame-ancestors"] == "'none'"


@pytest.mark.parametrize("text", ["", "a b", "https://x; script-src *", "https://x,", "'unsafe-inline'", "x\r\ny: z"])
def test_what_is_no_source_of_pages_does_not_get_into_the_policy(text):
    with TraceServer() as server, pytest.raises(UsageError, match="is not a source of pages"):
        server.link(H200, title="x", embedders=[text])


def test_other_methods_are_not_there(server):
    assert status_of(server.link(H200, title="x"), "POST") == 501


def test_nothing_is_logged(server, capfd, caplog, large):
    caplog.set_level(logging.DEBUG)
    link = server.link(large, title="x")
    with request(trace_of(link)) as answer:
        answer.read(MB)  # and hangs up
    status_of(link)
    server.close()
    assert capfd.readouterr() == ("", "")
    assert caplog.text == ""


# For how long


def test_nothing_listens_before_the_first_link_and_after_close():
    server = TraceServer()
    server.close()
    assert server.wait_until_ended(0)
    link = server.link(H200, title="x")
    assert not server.wait_until_ended(0)
    server.close()
    assert not can_connect(link)


def test_a_link_that_nobody_opens_ends(server, clock):
    link = server.link(H200, title="x")
    clock.now_s = UNOPENED_S - 1
    assert can_connect(link)
    clock.now_s = UNOPENED_S
    assert server.wait_until_ended(20)
    assert not can_connect(link)


def test_a_link_ends_some_minutes_after_the_trace_was_sent(server, clock):
    link = server.link(H200, title="x")
    other = server.link(H200, title="y")  # keeps the server up
    body_of(trace_of(link))
    clock.now_s = AFTER_REQUEST_S - 1
    assert status_of(link) == 200
    clock.now_s = 2 * AFTER_REQUEST_S - 2  # the reload has prolonged it
    assert status_of(link) == status_of(other) == 200
    clock.now_s += AFTER_REQUEST_S
    assert (server.wait_until_ended(20), can_connect(link)) == (True, False)


def test_the_end_of_one_link_is_not_that_of_another(server, clock):
    first = server.link(H200, title="x")
    clock.now_s = UNOPENED_S / 2
    second = server.link(H200, title="y")
    clock.now_s = UNOPENED_S
    assert (status_of(first), status_of(second)) == (404, 200)


def test_opening_the_page_late_leaves_time_to_fetch_the_trace(server, clock):
    link = server.link(H200, title="x")
    clock.now_s = UNOPENED_S - 1
    assert status_of(link) == 200
    clock.now_s = UNOPENED_S + AFTER_REQUEST_S - 2
    assert body_of(trace_of(link))


def test_asking_for_the_size_or_hanging_up_is_no_handover(server, clock, large):
    link = server.link(large, title="x")
    assert status_of(trace_of(link), "HEAD") == 200
    with request(trace_of(link)) as answer:
        answer.read(MB)
    clock.now_s = UNOPENED_S - 1
    assert status_of(link) == 200


def test_a_slow_line_does_not_end_the_link(server, clock, large):
    link = server.link(large, title="x")
    with request(trace_of(link)) as answer:
        received = len(answer.read(MB))
        clock.now_s = 100 * UNOPENED_S
        assert status_of(link) == 200
        clock.now_s *= 2
        received += len(answer.read())
    assert received == large.stat().st_size


def test_close_breaks_off_what_is_being_sent(server, large):
    with request(trace_of(server.link(large, title="x"))) as answer:
        answer.read(MB)
        server.close()
        with pytest.raises((http.client.IncompleteRead, ConnectionResetError)):
            answer.read()


@pytest.mark.parametrize("is_gzip", [True, False])
def test_a_trace_that_shrinks_is_not_taken_for_whole(server, tmp_path, is_gzip):
    trace = sparse(tmp_path / "trace", 640 * MB, b"\x1f\x8b" if is_gzip else b"{}")
    with request(trace_of(server.link(trace, title="x"))) as answer:
        answer.read(1)
        with trace.open("r+b") as file:
            file.truncate(MB)
        with pytest.raises((http.client.IncompleteRead, ConnectionResetError)):
            answer.read()


def test_after_the_end_a_new_link_works(server, clock):
    first = server.link(H200, title="x")
    clock.now_s = UNOPENED_S
    assert server.wait_until_ended(20)
    second = server.link(H200, title="x")
    assert status_of(second) == 200
    server.close()
    third = server.link(H200, title="x")
    assert status_of(third) == 200
    assert len({first, second, third}) == 3


@pytest.mark.parametrize(
    ("size", "head"),
    [(1024 * MB, b"\x1f\x8b"), (512 * MB, b"{}")],
    ids=["gzipped", "plain"],
)
def test_a_large_trace_takes_little_memory(server, tmp_path, size, head):
    link = server.link(sparse(tmp_path / "trace", size, head), title="x")
    buffer = memoryview(bytearray(MB))
    received = 0
    tracemalloc.start()
    try:
        with request(trace_of(link)) as answer:
            while count := answer.readinto(buffer):
                received += count
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 4 * MB
    assert received == size if head == b"\x1f\x8b" else received > 0


# Which part of the trace


def call(start_ns: int, cpu_ns: int, cuda_ns: int | None = None) -> CallInTrace:
    return CallInTrace(0, start_ns, cpu_ns, cuda_ns)


@pytest.mark.parametrize("is_gzip", [True, False])
def test_the_clock_is_read_from_the_ends_of_a_trace(tmp_path, is_gzip):
    path = H200
    if not is_gzip:
        path = tmp_path / "plain.json"
        path.write_bytes(gzip.decompress(H200.read_bytes()))
    start_ns = 5_094_702_764_954_992
    assert clock_of(path) == TraceClock(1_790_857_026_000_000_000, TimeRange(start_ns, start_ns + 4_073_594))


@pytest.mark.parametrize("path", sorted((TRACES / "h200").iterdir()), ids=lambda path: path.name)
def test_every_recorded_trace_says_its_clock(path):
    clock = clock_of(path)
    assert clock.base_time_ns == 1_790_857_026_000_000_000
    assert clock.span is not None


@pytest.mark.parametrize("is_gzip", [True, False])
def test_the_clock_is_found_at_the_ends_of_a_large_file(tmp_path, is_gzip):
    span = b'{"ph": "X", "cat": "Trace", "ts": 1.5, "dur": 2, "pid": "Spans", "name": "PyTorch Profiler (0)"}'
    text = b'{"baseTimeNanoseconds": 7, "traceEvents": [' + b"{}, " * MB + span + b"]}"
    path = tmp_path / "trace"
    path.write_bytes(gzip.compress(text, 1) if is_gzip else text)
    assert clock_of(path) == TraceClock(7, TimeRange(1500, 3500))


def test_a_trace_without_slices_has_no_span_and_absolute_times(tmp_path):
    path = tmp_path / "trace.json"
    for text in (b"{}", b"[]", b'{"traceEvents": [{"cat": "Trace", "ts": 1, "dur": 0, "pid": "Spans"}]}'):
        path.write_bytes(text)
        assert clock_of(path) == TraceClock()


def test_without_a_span_the_slices_at_both_ends_leave_room_for_a_margin(tmp_path):
    path = tmp_path / "trace.json"
    slices = [b'{"ph": "X", "name": "r", "ts": %d, "dur": 2}' % ts_us for ts_us in (900, 100, 500)]
    path.write_bytes(b'{"traceEvents": [{"ph": "i", "ts": 1}, %b]}' % b", ".join(slices))
    clock = clock_of(path)
    assert clock == TraceClock(0, TimeRange(100_000, 902_000))
    assert time_range_of(call(500_000, 2_000), clock) == TimeRange(499_800, 502_200)


def test_a_trace_that_cannot_be_read_has_no_clock(tmp_path):
    with pytest.raises(TraceError):
        clock_of(tmp_path / "missing.json")


def test_the_device_work_to_the_right_is_shown_with_a_margin():
    clock = TraceClock(1_000_000_000, TimeRange(0, 1_000_000))
    assert time_range_of(call(1_000_500_000, 10_000, 20_000), clock) == TimeRange(497_000, 533_000)


def test_the_region_stays_large_enough_to_be_seen():
    shown = time_range_of(call(500_000, 10_000, 50_000_000), TraceClock(0, TimeRange(0, 10**9)))
    assert shown == TimeRange(495_000, 555_000)


def test_without_a_span_there_is_no_margin():
    assert time_range_of(call(150_000, 10_000, 20_000), TraceClock(50_000)) == TimeRange(100_000, 110_000)


def test_an_call_that_is_not_in_the_trace_shows_all_of_it():
    span = TimeRange(100, 200_000)
    assert time_range_of(call(10**9, 10_000), TraceClock(0, span)) == span


def test_an_call_of_no_length_still_has_a_range():
    assert time_range_of(call(5_000, 0), TraceClock()) == TimeRange(5_000, 6_000)


@given(
    st.integers(0, 2**61), st.integers(10_000, 10**12), st.integers(0, 10**12), st.integers(0, 10**12), st.integers(0)
)
def test_the_range_lies_where_the_ui_sees_the_trace(span_start, length, into, cpu_ns, cuda_ns):
    span = TimeRange(span_start, span_start + length)
    shown = time_range_of(call(span_start + into, cpu_ns, cuda_ns), TraceClock(0, span))
    assert span.start_ns <= shown.start_ns < shown.end_ns <= span.end_ns
    # The UI's bounds: the slice's start as it rounds it, and the length.
    seen, asked = in_perfetto(span), in_perfetto(shown)
    assert seen.start_ns <= asked.start_ns
    assert asked.end_ns <= seen.end_ns


@given(st.integers(0, 2**42 * 1000))
def test_times_of_the_first_51_days_are_the_same_in_the_ui(start_ns):
    assert in_perfetto(TimeRange(start_ns, start_ns + 1)) == TimeRange(start_ns, start_ns + 1)


def test_later_times_are_rounded_as_the_ui_does():
    # double(4450000000000.001) * 1000 is 4450000000000000.98, which is no double either.
    assert in_perfetto(TimeRange(4_450_000_000_000_001, 4_450_000_000_000_011)).start_ns == round(
        4450000000000.001 * 1e3
    )


@pytest.mark.parametrize("ends", [(5, 5), (6, 5), (-1, 5)])
def test_an_empty_range_is_a_mistake(ends):
    with pytest.raises(ValueError, match="not a range"):
        TimeRange(*ends)


def test_idle_connections_are_few_and_end(monkeypatch):
    """258 of them, a byte every 10 s, used up the descriptors of the language server."""
    monkeypatch.setattr("kinetoscope_core.perfetto.server.REQUEST_WITHIN_S", 0.5)
    with TraceServer() as server:
        port = urlsplit(server.link(H200, title="t")).port
        assert port is not None
        idle = [socket.create_connection(("127.0.0.1", port)) for _ in range(100)]
        for each in idle:
            each.settimeout(30)
        for each in idle:
            try:
                each.sendall(b"G")
                assert each.recv(1) == b""
            except ConnectionError:
                pass
            each.close()
        with socket.create_connection(("127.0.0.1", port), 30) as connection:
            connection.sendall(b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
            assert connection.recv(12) == b"HTTP/1.1 404"
