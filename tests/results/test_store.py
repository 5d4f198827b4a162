import os
import stat
import time

import pytest

from kinetoscope_core.errors import UsageError
from kinetoscope_core.results import store as stores
from kinetoscope_core.results.store import Store


def keep(store, *, trace=b"{}", result=b'{"schema": 1}'):
    folder = store.new_folder()
    (folder / "trace-1.json").write_bytes(trace)
    return store.keep(folder, result)


def test_a_kept_run_is_listed_with_its_result_and_traces(tmp_path):
    store = Store(tmp_path)
    kept = keep(store)
    assert [run.id for run in store.runs()] == [kept.id]
    assert kept.result() == {"schema": 1}
    assert [trace.name for trace in kept.traces()] == ["trace-1.json"]
    assert kept.size_bytes == len(b"{}") + len(b'{"schema": 1}')


def test_a_run_in_the_making_is_not_listed(tmp_path):
    store = Store(tmp_path)
    folder = store.new_folder()
    (folder / "result.json").write_text("{}")
    assert store.runs() == []
    store.discard(folder)
    assert not folder.exists()


def test_a_kept_run_lies_where_it_was_said_to(tmp_path):
    store = Store(tmp_path)
    folder = store.new_folder()
    announced = store.final_folder(folder)
    assert store.keep(folder, b"{}").folder == announced


def test_only_the_user_can_read_runs(tmp_path):
    kept = keep(Store(tmp_path))
    assert stat.S_IMODE(kept.folder.stat().st_mode) == 0o700


def test_the_oldest_runs_go_when_there_are_too_many(tmp_path, monkeypatch):
    monkeypatch.setattr(stores, "MOST_RUNS", 3)
    store = Store(tmp_path)
    for number in range(5):
        folder = store.new_folder()
        folder = folder.rename(folder.with_name(f"2026010{number}-000000-abcdef"))
        store.keep(folder, b"{}")
    assert [run.id[:8] for run in store.runs()] == ["20260104", "20260103", "20260102"]


def test_the_newest_run_stays_even_if_it_is_too_large(tmp_path, monkeypatch):
    monkeypatch.setattr(stores, "MOST_BYTES", 10)
    store = Store(tmp_path)
    old = store.new_folder()
    (old / "trace-1.json").write_bytes(b"x" * 100)
    store.keep(old.rename(old.with_name("20200101-000000-abcdef")), b"{}")
    newest = keep(store, trace=b"x" * 100)
    assert [run.id for run in store.runs()] == [newest.id]


def test_what_a_killed_run_left_is_removed_after_a_day(tmp_path):
    store = Store(tmp_path)
    abandoned = store.new_folder()
    fresh = store.new_folder()
    two_days_ago = time.time() - 2 * 24 * 3600
    os.utime(abandoned, (two_days_ago, two_days_ago))
    keep(store)
    assert not abandoned.exists()
    assert fresh.exists()


def test_a_damaged_result_says_what_to_do(tmp_path):
    kept = keep(Store(tmp_path), result=b"{")
    with pytest.raises(UsageError, match="delete"):
        kept.result()


def test_a_cache_that_cannot_be_written_says_what_to_do(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(UsageError, match="XDG_CACHE_HOME"):
        Store(tmp_path / "file").new_folder()


def test_a_pinned_run_stays_and_does_not_count_and_an_unpinned_one_is_as_before(tmp_path, monkeypatch):
    monkeypatch.setattr(stores, "MOST_RUNS", 1)
    store = Store(tmp_path)

    def kept(day):
        folder = store.new_folder()
        return store.keep(folder.rename(folder.with_name(f"202601{day:02}-000000-abcdef")), b"{}").id

    first = kept(1)
    before = store.changed_ns()
    store.pin(first, is_pinned=True)
    assert store.changed_ns() > before
    second, third = kept(2), kept(3)
    assert [(run.id, run.is_pinned) for run in store.runs()] == [(third, False), (first, True)]
    store.pin(first, is_pinned=False)
    fourth = kept(4)
    assert [run.id for run in store.runs()] == [fourth]
    with pytest.raises(UsageError, match=f"no stored run {second}"):
        store.pin(second, is_pinned=True)


def test_a_deleted_run_leaves_nothing(tmp_path):
    store = Store(tmp_path)
    run = keep(store)
    store.delete(run.id)
    assert not store.runs()
    assert not [path for path in tmp_path.rglob("*") if path.is_file()]
    for name in (run.id, "..", "../runs"):
        with pytest.raises(UsageError, match="no stored run"):
            store.delete(name)
