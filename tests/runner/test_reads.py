"""While an import is watched, what it calls takes what Python's own functions take."""

import os

import pytest

from kinetoscope_core.runner.prewarm.reads import Reads


@pytest.mark.parametrize(
    "look",
    [
        lambda path: __import__(name="json", fromlist=["decoder"], level=0),  # as lightning_utilities does
        lambda path: open(file=path).close(),
        lambda path: open(path, encoding="utf-8").close(),
        lambda path: os.stat(path=path),
        lambda path: os.stat(path, follow_symlinks=False),
    ],
    ids=["import", "open", "io.open", "stat", "lstat"],
)
def test_arguments_may_be_given_by_name(tmp_path, look):
    path = tmp_path / "file"
    path.touch()
    reads = Reads()
    with reads:
        look(str(path))
    assert "json" in reads.imported or str(path) in reads.files


def test_a_file_that_is_already_open_is_no_path(tmp_path):
    with open(tmp_path / "file", "w") as file, Reads() as reads:
        os.stat(file.fileno())
    assert reads.files == {}
