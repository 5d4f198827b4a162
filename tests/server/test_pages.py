"""Every code of a diagnostic has its page, and the other way round."""

from kinetoscope_server.explaining import PAGES, page_of
from kinetoscope_server.settings import SEVERITIES


def test_every_code_has_a_page_that_begins_with_it():
    assert {page.stem for page in PAGES.iterdir()} == set(SEVERITIES)
    for code in SEVERITIES:
        assert (PAGES / f"{code}.md").read_text(encoding="utf-8").startswith(f"# {code}\n")
        assert page_of(code) == (PAGES / f"{code}.md").as_uri()
