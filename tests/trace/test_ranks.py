"""Traces of the ranks of one job: which they are, and what each waits for in its collectives."""

import json
from itertools import pairwise
from random import Random

import pytest
from made_ranks import MadeRank, balanced
from made_traces import TRACES
from rank_walk import walked

from kinetoscope_core.errors import TraceError
from kinetoscope_core.jobs import rank_processes
from kinetoscope_core.jobs.measure import measure_traces
from kinetoscope_core.jobs.ranks import PlacedTraces
from kinetoscope_core.results.result import from_dict, to_json

JOBS = {
    "ddp": [(65, 16_054_589, 7_735_061), (65, 29_821_723, 21_618_136)],
    "ddp_slow_host": [(65, 91_098_836, 83_501_810), (65, 8_472_752, 0)],
    "fsdp": [(95, 118_891_192, 107_045_345), (95, 15_333_391, 1_931_851)],
}


def recorded(job):
    return [TRACES / "ranks" / f"{job}_rank{rank}.json.gz" for rank in (0, 1)]


def said(result):
    return {problem.code: problem for problem in result.problems}


def waited(result):
    return [None if each.collectives is None else each.collectives.waiting_ns for each in result.ranks]


def measured(folder, ranks):
    return measure_traces([rank.write(folder) for rank in ranks], [])


def sums(found):
    names = ("count", "total_ns", "waiting_ns", "transfer_ns", "exposed_ns")
    return {name: getattr(found, name) for name in names}


@pytest.mark.parametrize("job", JOBS)
def test_recorded_ranks_wait_as_the_raw_json_says(job):
    result = measure_traces(recorded(job), [])
    walk = walked(recorded(job))
    for rank, truth, known in zip(result.ranks, walk, JOBS[job], strict=True):
        assert sums(rank.collectives) == sums(truth.all)
        assert (rank.collectives.count, rank.collectives.total_ns, rank.collectives.waiting_ns) == known
        assert rank.collectives.matched == rank.collectives.count
        regions = {each.name: sums(each.communication) for each in rank.regions if each.communication}
        names = truth.regions.keys() & {each.name for each in rank.regions}
        assert {"train_step", "backward", "log"} <= names
        assert {name: regions[name] for name in names} == {name: sums(truth.regions[name]) for name in names}
        assert regions.keys() <= truth.regions.keys() | {each.name for each in result.groups}
    assert said(result) == {}


def test_the_result_has_the_numbers_of_one_rank_and_says_how_far_the_others_lie_apart():
    result = measure_traces(recorded("ddp_slow_host"), [])
    alone = measure_traces(result.traces[:1], [])
    assert [(each.name, each.cuda_total_ns) for each in result.regions] == [
        (each.name, each.cuda_total_ns) for each in alone.regions
    ]
    assert (result.device_total_ns, result.outside_regions_ns) == (alone.device_total_ns, alone.outside_regions_ns)
    data = next(each for each in result.regions if each.name == "data")
    assert data.over_ranks.cpu_total_ns.most_rank == 1
    assert data.over_ranks.cpu_total_ns.most - data.over_ranks.cpu_total_ns.least > 9_000_000
    assert [each.rank for each in result.ranks] == [0, 1]
    assert {result.traces[each.traces[0]].name for each in result.ranks} == {
        path.name for path in recorded("ddp_slow_host")
    }


def test_ranks_come_back_from_json():
    result = measure_traces(recorded("ddp"), [])
    assert from_dict(json.loads(to_json(result))) == result


def test_of_one_rank_alone_exposed_is_known_and_waiting_is_not():
    result = measure_traces(recorded("ddp")[:1], [])
    (rank,) = result.ranks
    together = measure_traces(recorded("ddp"), []).ranks[0]
    assert (rank.collectives.waiting_ns, rank.collectives.transfer_ns, rank.collectives.matched) == (None, None, 0)
    assert rank.collectives.exposed_ns == together.collectives.exposed_ns
    assert "rank 0 of 2 alone" in said(result)["rank-alone"].message


def test_traces_that_are_not_of_one_job_are_added_up_as_before_and_that_is_said(tmp_path):
    (rank, _), (other, _) = balanced(), balanced(world=4)[:2]
    result = measure_traces([rank.write(tmp_path, "2"), other.write(tmp_path, "4")], [])
    assert result.ranks == ()
    assert next(each for each in result.regions if each.name == "train_step").calls == 12
    assert "not-one-job" in said(result)


def test_ranks_of_another_hour_are_not_of_one_job(tmp_path):
    ranks = balanced()
    for event in ranks[1].events:
        event["ts"] += 3.6e9
    result = measured(tmp_path, ranks)
    assert result.ranks == ()
    assert "not-one-job" in said(result)


def test_several_traces_of_each_rank_are_matched_one_by_one(tmp_path):
    first, second = balanced(), balanced()
    for rank in second:
        for event in rank.events:
            event["ts"] += 100_000.0
    first_paths = [rank.write(tmp_path, "_a") for rank in first]
    result = measure_traces([*first_paths, *(rank.write(tmp_path, "_b") for rank in second)], [])
    assert [(each.collectives.count, each.collectives.matched, len(each.traces)) for each in result.ranks] == [
        (12, 12, 2)
    ] * 2
    assert next(each for each in result.regions if each.name == "train_step").calls == 12


def test_a_rank_waits_until_the_last_one_starts(tmp_path):
    result = measured(tmp_path, balanced(3, late=lambda rank, step: 700.0 * (rank == 2)))
    assert waited(result) == [6 * 700_000, 6 * 700_000, 0]
    assert [each.collectives.transfer_ns for each in result.ranks] == [6 * 100_000] * 3


@pytest.mark.parametrize("left_out", [1, 2])
def test_recordings_that_begin_at_another_call_are_laid_beside_each_other(tmp_path, left_out):
    ranks = balanced(late=lambda rank, step: 300.0 * (rank == 1))
    for _ in range(left_out):
        place = next(index for index, event in enumerate(ranks[1].events) if "Collective name" in event["args"])
        del ranks[1].events[place]
    result = measured(tmp_path, ranks)
    assert waited(result) == [(6 - left_out) * 300_000, 0]
    first = result.ranks[0].collectives
    assert (first.matched, first.unmatched_ns) == (6 - left_out, left_out * 400_000)
    assert said(result)["collectives-unmatched"].evidence["unmatched"] == left_out


def test_another_kind_or_size_in_the_middle_is_not_matched_by_guess(tmp_path):
    ranks = balanced()
    of_one = [event for event in ranks[1].events if "Collective name" in event["args"]]
    of_one[3]["args"]["In msg nelems"] = 7
    result = measured(tmp_path, ranks)
    assert waited(result) == [None, None]
    assert "not certain" in said(result)["collectives-unmatched"].message


def test_a_missing_rank_might_be_the_last_one(tmp_path):
    result = measured(tmp_path, balanced(4)[:3])
    assert waited(result) == [None] * 3
    assert "there is no trace of rank 3" in said(result)["collectives-unmatched"].message


def test_groups_whose_ranks_are_all_there_are_matched_though_others_are_missing(tmp_path):
    ranks = balanced(4)[:2]
    for rank in ranks:
        rank.groups["tp"] = [0, 1]
        rank.collective(40_000 + 500 * rank.rank, 41_000, group="tp")
    result = measured(tmp_path, ranks)
    assert waited(result) == [500_000, 0]
    assert result.ranks[0].collectives.matched == 1


def irregular(rank, step):
    return float(Random(100 * step + rank).randrange(900))


@pytest.mark.parametrize("hosts", [("a", "b"), (None, None)])
@pytest.mark.parametrize("ahead_us", [-2600.0, 1300.0])
def test_clocks_of_several_hosts_are_aligned_by_the_ends_of_collectives(tmp_path, hosts, ahead_us):
    truth = waited(measured(tmp_path, balanced(steps=12, late=irregular)))
    ranks = balanced(steps=12, late=irregular)
    for rank, host in zip(ranks, hosts, strict=True):
        rank.host = host
    for event in ranks[1].events:
        event["ts"] += ahead_us
    result = measured(tmp_path, ranks)
    assert waited(result) == truth
    assert [each.clock_offset_ns for each in result.ranks] == [None, round(1000 * ahead_us)]
    assert "clocks-aligned" in said(result)


def test_clocks_are_not_aligned_where_every_step_is_like_the_next(tmp_path):
    """Then one step earlier fits as well."""
    ranks = balanced(steps=12)
    for rank, host in zip(ranks, "ab", strict=True):
        rank.host = host
    for event in ranks[1].events:
        event["ts"] += 2600.0
    result = measured(tmp_path, ranks)
    assert waited(result) == [None, None]
    assert "collectives-unmatched" in said(result)


def test_what_is_sent_is_matched_with_what_is_received(tmp_path):
    ranks = [MadeRank(rank) for rank in (0, 1)]
    for rank in ranks:
        rank.region("step", 0, 100_000)
        rank.collective(1000, 1100)
    ranks[0].collective(2000, 2400, name="send", peer=1)
    ranks[1].collective(2300, 2410, name="recv", peer=0)
    ranks[0].collective(3000, 3400, name="recv", peer=1)
    ranks[1].collective(2900, 3400, name="send", peer=0)
    result = measured(tmp_path, ranks)
    assert waited(result) == [300_000, 100_000]
    assert [each.collectives.matched for each in result.ranks] == [3, 3]


def test_kernels_that_do_not_name_their_group_are_not_matched(tmp_path):
    ranks = balanced()
    for rank in ranks:
        for event in rank.events:
            event["args"].pop("Process Group Name", None)
    result = measured(tmp_path, ranks)
    assert waited(result) == [None, None]
    assert "do not name their process group" in said(result)["collectives-unmatched"].message


def test_a_fold_of_many_ranks_is_read_in_the_order_of_their_numbers(tmp_path):
    paths = [rank.write(tmp_path) for rank in balanced(11)]
    result = measure_traces(sorted(paths), [])
    assert [each.rank for each in result.ranks] == list(range(11))
    assert all(one.rank < other.rank for one, other in pairwise(result.ranks))


def test_many_ranks_are_read_by_several_processes_with_the_same_result(tmp_path, monkeypatch):
    paths = [rank.write(tmp_path) for rank in balanced(7, late=lambda rank, step: 300.0 * (rank == 5))]
    alone = measure_traces(paths, [])
    monkeypatch.setattr(rank_processes, "_WORTH_BYTES", 1)
    monkeypatch.setattr(rank_processes, "cores", lambda: 3)
    monkeypatch.setattr(PlacedTraces, "facts_at", None)  # of this process, which reads none of them
    assert measure_traces(paths, []) == alone


def test_what_a_process_cannot_read_is_the_same_error(tmp_path, monkeypatch):
    paths = [rank.write(tmp_path) for rank in balanced(4)]
    text = paths[2].read_text()
    paths[2].write_text(text.replace('"ph"', '"no phase"'))
    monkeypatch.setattr(rank_processes, "_WORTH_BYTES", 1)
    monkeypatch.setattr(rank_processes, "cores", lambda: 2)
    with pytest.raises(TraceError, match=r"made_rank2\.json is JSON but not a trace"):
        measure_traces(paths, [])


def test_where_a_process_does_not_start_the_ranks_are_read_here(tmp_path, monkeypatch):
    paths = [rank.write(tmp_path) for rank in balanced(4)]
    alone = measure_traces(paths, [])
    monkeypatch.setattr(rank_processes, "_WORTH_BYTES", 1)
    monkeypatch.setattr(rank_processes, "cores", lambda: 2)
    monkeypatch.setattr(rank_processes.sys, "executable", str(tmp_path / "none"))
    assert measure_traces(paths, []) == alone
