"""Every code of a diagnostic has its page, and the other way round."""

from kinetoscope_core.analysis.findings.pages import PAGES, codes_with_a_page
from kinetoscope_server.settings.settings import SEVERITIES
from kinetoscope_server.text.finding_pages import page_of


def test_every_code_has_a_page_that_begins_with_it():
    assert codes_with_a_page() == sorted(SEVERITIES)
    for code in SEVERITIES:
        assert (PAGES / f"{code}.md").read_text(encoding="utf-8").startswith(f"# {code}\n")
        assert page_of(code) == (PAGES / f"{code}.md").as_uri()
