"""A sweep as a line chart."""

import re
from dataclasses import replace
from xml.etree import ElementTree as ET

from kinetoscope_core.output.sweep_chart import to_svg
from kinetoscope_core.results.comparison import Change
from kinetoscope_core.results.sweep import Axis, Cell, Setting, Sweep, SweptRegion


def sweep(*rows: tuple[str, list[int | None]]) -> Sweep:
    def cell(time: int | None) -> Cell | None:
        none = Change(None, None)
        return None if time is None else Cell("", Change(None, time), none, None, None, None, None, None)

    regions = tuple(SweptRegion(name, "s.py", 1, tuple(map(cell, times))) for name, times in rows)
    values = tuple(str(index) for index in range(len(rows[0][1])))
    settings = tuple(Setting((each,), ()) for each in values)
    return Sweep("1", "s.py", False, (), "", 1, (Axis("n", values),), settings, regions, 0)


def texts_and_heights(of: Sweep) -> tuple[list[str], list[float]]:
    image = to_svg(of) or ""
    ET.fromstring(image)  # noqa: S314 - our own
    return re.findall(r"<text[^>]*>([^<]*)", image), [float(each) for each in re.findall(r'cy="([\d.]+)"', image)]


def test_times_that_lie_far_apart_are_on_a_logarithmic_scale() -> None:
    texts, heights = texts_and_heights(sweep(("add", [1_000, 10_000, 100_000])))
    assert texts == ["1.00 µs", "10.0 µs", "100 µs", "n=0", "n=1", "n=2", "add CPU"]
    assert heights[0] - heights[1] == heights[1] - heights[2] > 0


def test_others_are_on_a_linear_one_from_0() -> None:
    texts, heights = texts_and_heights(sweep(("add", [2_000, 4_000, 8_000]), ("mul", [1_000, 1_000, 0])))
    assert texts[:2] == ["0 ns", "2.00 µs"]
    assert heights[1] - heights[2] == 2 * (heights[0] - heights[1]) > 0


def test_where_a_setting_has_no_time_the_line_is_broken_and_names_are_only_text() -> None:
    image = to_svg(sweep(("<a & b>", [1, None, 2, 3]))) or ""
    (path,) = re.findall(r'd="(M[^"h]*)" fill', image)
    assert (path.count("M"), path.count("L")) == (2, 1)
    assert "&lt;a &amp; b&gt; CPU" in image


def test_one_point_is_no_line_and_nothing_is_none() -> None:
    assert to_svg(sweep(("add", [1, None]))) is None
    assert to_svg(replace(sweep(("add", [1, 2])), regions=())) is None
    assert to_svg(sweep(("add", [0, 0]))) is None


def test_only_the_regions_with_the_largest_times_are_drawn() -> None:
    texts, _ = texts_and_heights(sweep(*((f"r{n}", [n, n]) for n in range(1, 10))))
    assert [each for each in texts if each.startswith("r")] == [f"r{n} CPU" for n in range(4, 10)]
