"""Expectations in the editor: squiggles in the comment, against what is shown, with the text as it now is."""

from dataclasses import replace
from pathlib import Path

import pytest
from lsprotocol import types as lsp

from kinetoscope_core.jobs.measure import measure_traces
from kinetoscope_core.results.checks import Check, checks
from kinetoscope_core.results.measures import Spread
from kinetoscope_core.source.regions import SourceRegions
from kinetoscope_server.features.expectations import wider

TRACES = Path(__file__).parents[2] / "traces"
TRAIN = """from torch.profiler import record_function as rf

def step(model, loss):
    with rf("data"): pass
    with rf("forward"): pass
    for i in range(3):
        with rf(f"{i}ward"): pass
"""


async def loaded(client, text, trace="h200/train_mlp.json.gz"):
    uri = client.write("train.py", text)
    client.open(uri)
    await client.execute("kinetoscope.loadTrace", [str(TRACES / trace)], [uri])
    await client.message()
    return uri


async def of_expectations(client, uri, count):
    """The diagnostics of expectations, when the times are shown and there are so many."""

    def found():
        all_of_them = client.diagnostics.get(uri, [])
        ours = [each for each in all_of_them if each.code == "expectation"]
        return (ours,) if len(ours) == count and (count or all_of_them) else None

    return (await client.until(found, f"{count} diagnostics of expectations"))[0]


def expecting(terms, above=""):
    return (
        TRAIN.replace('rf("forward"): pass', f'rf("forward"): pass  # é𐌰 kinetoscope: expect {terms}')
        .replace('    with rf("forward")', f'{above}    with rf("forward")')
        .replace("# é𐌰 ", "# é𐌰  # ")
    )


def place_of(text, part):
    """Where a part of the text stands, in UTF-16."""
    before, _, _ = text.partition(part)
    row, line = before.count("\n"), before.rpartition("\n")[2]
    start, end = (len(each.encode("utf-16-le")) // 2 for each in (line, line + part))
    return lsp.Range(lsp.Position(row, start), lsp.Position(row, end))


async def test_a_broken_expectation_is_a_squiggle_at_its_term_with_the_number(start):
    client = await start()
    text = expecting("cuda < 100us, launches <= 50, bound = compute", above="    # kinetoscope: expect cpu > 1h\n")
    uri = await loaded(client, text)
    by_place = {str(each.range): each for each in await of_expectations(client, uri, 3)}
    found = {term: by_place.pop(str(place_of(text, term))) for term in ("cuda < 100us", "bound = compute", "1h")}
    assert {each.severity for each in found.values()} == {lsp.DiagnosticSeverity.Error}
    assert found["cuda < 100us"].message == (
        "forward: CUDA 190 µs per call (middle half of 4 calls: 190–191 µs). Expected: cuda < 100us."
    )
    assert found["bound = compute"].message == "forward: the bound is overhead. Expected: bound = compute."
    assert found["1h"].message == "There is no unit `h`. Write ns, us, ms or s behind it."
    assert found["1h"].code_description.href.endswith("/expectation.md")

    story = await client.hover(uri, 5)
    assert "- expected cuda < 100us: **broken**, forward: CUDA 190 µs per call" in story.replace("\\", "")
    assert "- expected launches <= 50: **holds**, forward: 12 launches per call" in story.replace("\\", "")
    assert "1h" not in story


async def test_a_comment_is_checked_while_it_is_typed_and_its_limit_changed_by_a_code_action(start):
    client = await start()
    uri = await loaded(client, TRAIN)
    await of_expectations(client, uri, 0)
    text = expecting("cuda < 10us")
    client.replace(uri, 2, (0, 0), (99, 0), text)
    await client.until(lambda: "expectation" in [each.code for each in client.diagnostics[uri]], "a squiggle")
    actions = await client.code_actions(uri, 4)
    action = actions["Change to: expect cuda < 210us"]
    assert next(iter(actions)) == "Change to: expect cuda < 210us"
    (edit,) = action["edit"]["changes"][uri]
    place = place_of(text, "cuda < 10us")
    assert edit["range"]["start"] == {"line": place.start.line, "character": place.start.character}
    client.replace(uri, 3, (0, 0), (99, 0), text.replace("cuda < 10us", edit["newText"]))
    await client.until(lambda: "expectation" not in [each.code for each in client.diagnostics[uri]], "its end")
    assert "**holds**" in await client.hover(uri, 4)


async def test_stale_times_are_not_checked(start):
    client = await start()
    text = expecting("cuda < 10us")
    uri = await loaded(client, text)
    await of_expectations(client, uri, 1)
    client.replace(uri, 2, (0, 0), (99, 0), text.replace('rf("forward"): pass', 'rf("forward"): x = 1'))
    await client.until(lambda: "expectation" not in [each.code for each in client.diagnostics[uri]], "its end")
    assert "expected" not in await client.hover(uri, 4)


async def test_what_was_not_measured_is_information(start):
    client = await start()
    text = (
        "from torch.profiler import record_function as rf\n# kinetoscope: expect cuda < 1s\nwith rf('compiled'): pass\n"
    )
    uri = await loaded(client, text, "cpu/recompile.json.gz")
    (found,) = await of_expectations(client, uri, 1)
    assert found.severity == lsp.DiagnosticSeverity.Information
    assert found.message == "Not checked: no GPU work was measured, so cuda of compiled is not known."
    assert "**not checked**" in await client.hover(uri, 2)


async def test_a_comment_that_stands_at_no_region_is_found(start):
    client = await start("minimal")
    uri = await loaded(client, TRAIN.replace("pass\n", "pass\n    # kinetoscope: expect cpu < 1s\n\n", 1))
    (found,) = await of_expectations(client, uri, 1)
    assert found.severity == lsp.DiagnosticSeverity.Information
    assert found.message.startswith("Not checked: No region is entered here.")


async def test_the_message_at_the_end_of_a_run_names_what_is_broken(start):
    client = await start()
    text = (
        "import torch\nfrom torch.profiler import record_function as rf\nfor _ in range(9):\n"
        "    with rf('short'):  # kinetoscope: expect cpu < 1ns, cuda < 1ns\n        torch.ones(8) + 1\n"
    )
    uri = client.write("train.py", text)
    client.open(uri)
    await client.execute("kinetoscope.profileFile", uri)
    assert " 1 expectation is broken: cpu < 1ns in short." in (await client.message()).message
    found = await of_expectations(client, uri, 2)
    assert {each.severity for each in found} == {lsp.DiagnosticSeverity.Error, lsp.DiagnosticSeverity.Information}


@pytest.mark.parametrize(("severity", "count"), [("warning", 2), ("off", 0)])
async def test_its_severity_is_a_setting(start, severity, count):
    client = await start(settings={"severities": {"expectation": severity}})
    uri = await loaded(client, expecting("cuda < 10us, cuda < 10"))
    found = await of_expectations(client, uri, count)
    assert [each.severity for each in found] == [lsp.DiagnosticSeverity.Warning] * count


async def test_a_mistake_is_shown_before_anything_was_measured(start):
    client = await start()
    uri = client.write("train.py", expecting("gpu < 10us"))
    client.open(uri)
    (found,) = await of_expectations(client, uri, 1)
    assert found.message.startswith("There is no `gpu` to expect.")


@pytest.mark.parametrize(
    ("expected", "times", "limit"),
    [
        ("cuda < 100us", [190_288], "cuda < 210us"),
        ("cuda <= 100us", [190_288, 412_000], "cuda <= 460us"),
        ("cuda < 1ns", [123_456_789], "cuda < 140ms"),
        ("cuda < 1ns", [91_000_000], "cuda < 110ms"),
        ("cuda < 1ns", [1_234_567_890], "cuda < 1.4s"),
        ("cuda < 1ns", [9], "cuda < 10ns"),
        ("cuda > 1s", [190_288], "cuda > 170us"),
        ("cuda < 1s", [190_288], None),
        ("launches <= 5", [12], "launches <= 12"),
        ("launches < 5", [12], "launches < 13"),
        ("launches > 20", [12], "launches > 11"),
        ("launches = 5", [12], None),
        ("bound = compute", [12], None),
        ("cuda < 5", [12], None),
    ],
)
def test_a_new_limit_holds_what_was_measured_and_ten_percent(expected, times, limit):
    result = measure_traces([TRACES / "h200" / "train_mlp.json.gz"], [])
    forward = next(each for each in result.regions if each.name == "forward")

    def check(term) -> Check:
        source = SourceRegions(TRAIN.replace('"forward"): pass', f'"forward"): pass  # kinetoscope: expect {term}'))
        region = next(each for each in source.regions if each.name == "forward")
        spreads = [Spread(time, time, time, time) for time in times]
        rows = [(region, replace(forward, cuda_total_ns=each, launches=each)) for each in spreads]
        return checks(source, "/a.py", rows, with_missing=False)[0]

    assert wider(check(expected)) == limit
    if limit is not None:
        assert all(each.holds for each in check(limit).outcomes)
