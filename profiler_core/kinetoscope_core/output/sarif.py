"""Findings and broken expectations as SARIF 2.1.0, which code-scanning pages read.

Only what stands at a line of a file can be shown there.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import orjson

from kinetoscope_core import __version__
from kinetoscope_core.analysis.findings import RULES
from kinetoscope_core.analysis.findings.pages import text_of
from kinetoscope_core.results.checks import EXPECTATION, Checked
from kinetoscope_core.results.measures import Finding, RegionMeasures
from kinetoscope_core.results.result import Result, rows_of
from kinetoscope_core.text import printable

_LEVELS: Final = {"warning": "warning", "information": "note", "hint": "note"}
_SCHEMA: Final = "https://json.schemastore.org/sarif-2.1.0.json"


def to_sarif(result: Result, root: Path) -> bytes:
    """One SARIF log. Paths below `root`, the checkout's folder, are relative to it; others are whole."""
    driver = {
        "name": "kinetoscope",
        "version": __version__,
        "rules": [_rule(code) for code in (*(rule.code for rule in RULES), EXPECTATION)],
    }
    run = {
        "tool": {"driver": driver},
        "columnKind": "unicodeCodePoints",
        "originalUriBaseIds": {"SRCROOT": {"uri": root.as_uri() + "/"}},
        "results": [
            *(each for region in rows_of(result) for each in _results(region, root)),
            *(_broken(each, root) for each in result.expectations if each.holds is False),
        ],
    }
    log = {"$schema": _SCHEMA, "version": "2.1.0", "runs": [run]}
    return orjson.dumps(log, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE)


def _rule(code: str) -> dict[str, Any]:
    """GitHub wants a short and a full description of each: what its page begins with."""
    page = text_of(code)
    _, short, meaning, *_ = page.split("\n\n")
    return {
        "id": code,
        "shortDescription": {"text": short.strip("*")},
        "fullDescription": {"text": meaning.removeprefix("**What it means.** ")},
        "help": {"text": page, "markdown": page},
    }


def _results(region: RegionMeasures, root: Path) -> Iterator[dict[str, Any]]:
    if region.file is None or region.line is None:
        return
    location = _location(region.file, region.line, root)
    for finding in region.findings:
        yield {
            "ruleId": finding.code,
            "level": _LEVELS[finding.severity],
            "message": {"text": finding.message},
            "locations": [location],
            # A line moves and its times change; the region and what is wrong with it stay.
            "partialFingerprints": {"kinetoscope/v1": f"{finding.code}:{printable(region.name)}"},
            "properties": _properties(finding),
            **({"suppressions": [{"kind": "inSource"}]} if finding.is_suppressed else {}),
        }


def _broken(each: Checked, root: Path) -> dict[str, Any]:
    return {
        "ruleId": EXPECTATION,
        "level": "error",
        "message": {"text": f"{each.message}. Expected: {each.text}."},
        "locations": [_location(each.file, each.line, root)],
        "partialFingerprints": {"kinetoscope/v1": f"{EXPECTATION}:{printable(each.region or '')}:{each.quantity}"},
    }


def _location(file: str, line: int, root: Path) -> dict[str, Any]:
    return {"physicalLocation": {"artifactLocation": _artifact(file, root), "region": {"startLine": line}}}


def _artifact(file: str, root: Path) -> dict[str, str]:
    path = Path(file)
    if not path.is_relative_to(root):
        return {"uri": path.as_uri()}
    relative = path.relative_to(root)
    return {"uri": (root / relative).as_uri().removeprefix(root.as_uri() + "/"), "uriBaseId": "SRCROOT"}


def _properties(finding: Finding) -> dict[str, Any]:
    return {
        "evidence": dict(finding.evidence),
        "cost_ns": finding.cost_ns,
        "saves_at_most_ns": finding.saves_at_most_ns,
    }
