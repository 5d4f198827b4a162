"""What people call a result."""

import time
from datetime import datetime, timezone

import pytest

from kinetoscope_server.results.titles import when_text

NOON = datetime(2026, 11, 30, 12, 0, tzinfo=timezone.utc)


@pytest.fixture(autouse=True)
def _in_kathmandu(monkeypatch):
    monkeypatch.setenv("TZ", "Asia/Kathmandu")  # 5:45 ahead of UTC, all year
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()


@pytest.mark.parametrize(
    ("when", "expected"),
    [
        ("2026-11-30T08:47:05+00:00", "14:32"),
        ("2026-11-29T18:20:00+00:00", "00:05"),  # the same day there
        ("2026-11-29T08:47:05+00:00", "29 Nov 14:32"),
        ("2025-01-02T08:47:05+00:00", "2 Jan 2025 14:32"),
        ("yester\nday", "yester\\nday"),
    ],
)
def test_a_time_is_local_and_as_short_as_it_is_clear(when, expected):
    assert when_text(when, now=NOON) == expected


def test_a_time_to_choose_by_has_seconds():
    assert when_text("2026-11-30T08:47:05+00:00", with_seconds=True, now=NOON) == "14:32:05"
