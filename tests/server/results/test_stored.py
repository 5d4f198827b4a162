"""What a server knows of runs of the days before it."""

import pytest
from lsprotocol import types as lsp

pytestmark = pytest.mark.timeout(120)

RAISES = """import torch
from torch.profiler import record_function

def f(n):
    with record_function("f"):
        if n == 6:
            raise ValueError("six")

if not torch:
    with record_function("never"):
        pass
for n in range(9):
    f(n)
"""


def at_lines(client, uri, code):
    return [each.range.start.line for each in client.diagnostics.get(uri, []) if each.code == code]


async def test_problems_of_the_newest_run_of_a_file_are_shown_again_while_it_is_as_it_was(start):
    client = await start()
    uri = client.write("raises.py", RAISES)
    client.open(uri)
    answer = await client.ask("kinetoscope/profile", {"uri": uri})
    assert (answer["how"], bool(answer["run"])) == ("failed", True), answer
    await client.until(lambda: at_lines(client, uri, "run-failed") == [6], "diagnostic")
    (before,) = [each for each in client.diagnostics[uri] if each.code == "run-failed"]

    again = await start()
    again.open(uri)
    await again.until(lambda: at_lines(again, uri, "run-failed") == [6], "the same after a restart")
    (failed,) = [each for each in again.diagnostics[uri] if each.code == "run-failed"]
    assert failed == before
    assert [(each.message, each.location.range.start.line) for each in failed.related_information] == [
        ("in f", 6),
        ("in <module>", 12),
    ]
    assert failed.severity == lsp.DiagnosticSeverity.Error
    again.replace(uri, 2, (0, 0), (0, 0), "\n")
    await again.until(lambda: at_lines(again, uri, "run-failed") == [7], "moved diagnostic")
    again.replace(uri, 3, (7, 12), (7, 17), "print")
    await again.until(lambda: not at_lines(again, uri, "run-failed"), "end of the diagnostic")

    client.write("raises.py", RAISES.replace('"six"', '"6"'))
    third = await start()
    third.open(uri)
    await third.until(lambda: third.results.get(uri) and third.results[uri].regions, "results")
    assert await third.hints(uri)  # the diagnostics have been sent by then
    assert not at_lines(third, uri, "run-failed"), "what ran is not what stands there"


async def test_regions_that_were_not_reached_are_named_after_a_restart_until_a_newer_run(start):
    client = await start()
    uri = client.write("reached.py", RAISES.replace("n == 6", "n == 60"))
    client.open(uri)
    assert (await client.ask("kinetoscope/profile", {"uri": uri}))["how"] == "measured"
    await client.until(lambda: at_lines(client, uri, "region-not-reached") == [9], "diagnostic")

    again = await start()
    again.open(uri)
    await again.until(lambda: at_lines(again, uri, "region-not-reached") == [9], "the same after a restart")
    answer = await again.ask("kinetoscope/profile", {"uri": uri, "line": 4, "name": "f"})
    assert answer["how"] == "measured"
    await again.until(lambda: not at_lines(again, uri, "region-not-reached"), "end of the diagnostic")

    third = await start()
    third.open(uri)
    await third.until(lambda: third.results.get(uri) and third.results[uri].regions, "results")
    assert await third.hints(uri)  # the diagnostics have been sent by then
    assert not at_lines(third, uri, "region-not-reached")
