"""One thing has one word: what goes from entering to leaving a region is a call, as in torch's "# of Calls"."""

import re
import subprocess
from pathlib import Path

ROOT = Path(__file__).parents[1]
OTHER_WORDS = re.compile(r"passage|occurrence", re.IGNORECASE)
# Truths that another program wrote, with its words, and who reads them; code that is not ours.
EXCEPT = ("tests/traces/", "tests/trace/test_trace_truth.py", "tests/test_words.py", "package-lock.json")


def test_a_call_of_a_region_has_no_other_name():
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, check=True, capture_output=True, text=True).stdout  # noqa: S607
    names = [name for name in listed.split("\0") if name and not name.startswith(EXCEPT)]
    assert len(names) > 400
    texts = {name: (ROOT / name).read_bytes().decode("utf-8", "replace") for name in names if (ROOT / name).is_file()}
    assert {name for name, text in texts.items() if OTHER_WORDS.search(name + text)} == set()
