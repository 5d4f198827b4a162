"""Which rank is late, and what is uneven: named where it is so, and nobody where ranks differ by chance."""

from random import Random

import pytest
from made_ranks import MadeRank, balanced
from made_traces import TRACES

from kinetoscope_core.jobs.measure import measure_traces


def measured(folder, ranks):
    return measure_traces([rank.write(folder) for rank in ranks], [])


def recorded(job):
    return measure_traces([TRACES / "ranks" / f"{job}_rank{rank}.json.gz" for rank in (0, 1)], [])


def straggler(result):
    return next((each for each in result.findings if each.code == "straggler"), None)


def at_regions(result):
    return {
        (region.name, each.code)
        for region in result.regions
        for each in region.findings
        if each.code.startswith("uneven-")
    }


def test_the_rank_that_sleeps_is_named_with_what_it_did_and_what_the_other_loses():
    result = recorded("ddp_slow_host")
    found = straggler(result)
    assert found.severity == "warning"
    told = {
        name: found.evidence[name] for name in ("rank", "collectives", "collectives_late", "steps_late", "region", "of")
    }
    assert told == {
        "rank": 1, "collectives": 65, "collectives_late": 65, "steps_late": 5, "region": "data", "of": "cpu",
    }  # fmt: skip
    assert 10_000_000 < found.evidence["longer_per_step_ns"] < 10_300_000
    assert 10_000_000 < found.evidence["lost_per_step_ns"] < 12_000_000
    assert result.traces[found.spot.trace].name == "ddp_slow_host_rank1.json.gz"
    assert at_regions(result) == {("data", "uneven-host")}


@pytest.mark.parametrize("job", ["ddp", "fsdp"])
def test_nobody_is_named_in_a_balanced_job_though_gpus_wait(job):
    result = recorded(job)
    assert straggler(result) is None
    assert at_regions(result) == set()


@pytest.mark.parametrize("world", [2, 4, 8])
def test_nobody_is_named_where_ranks_are_late_by_chance(tmp_path, world):
    for seed in range(12):
        late = {
            (rank, step): Random(f"{seed} {rank} {step}").expovariate(1 / 300)
            for rank in range(world)
            for step in range(6)
        }
        result = measured(tmp_path, balanced(world, late=lambda rank, step, late=late: late[rank, step]))
        found = straggler(result)
        assert found is None, (seed, found.message)


@pytest.mark.parametrize("world", [2, 4, 8])
def test_a_late_host_is_found_among_chance(tmp_path, world):
    late = lambda rank, step: 1500.0 * (rank == 1) + Random(f"{rank} {step}").expovariate(1 / 100)  # noqa: E731
    result = measured(tmp_path, balanced(world, late=late))
    found = straggler(result)
    assert (found.evidence["rank"], found.evidence["region"], found.evidence["of"]) == (1, "data", "cpu")
    assert abs(found.evidence["lost_per_step_ns"] - 1_500_000) < 300_000
    assert ("data", "uneven-host") in at_regions(result)


def made_steps(world, more, steps=6):
    """Steps of ranks that compute for 1 ms in `forward`, and longer as `more` says."""
    ranks = [MadeRank(rank, world) for rank in range(world)]
    for step in range(steps):
        at = 1000.0 + 6000.0 * step
        took = [1000.0 + more(rank) for rank in range(world)]
        for rank, us in zip(ranks, took, strict=True):
            rank.region("train_step", at, 5500.0)
            rank.region("forward", at + 10, 100.0)
            rank.kernel("gemm", at + 100, us, launched_us=at + 20)
            rank.collective(at + 100 + us, at + 200 + max(took), launched_us=at + 150)
            rank.slice("cuda_runtime", "cudaDeviceSynchronize", at + 160, 5000.0)
    return ranks


def test_a_rank_with_more_work_for_its_gpu_is_late_for_that_reason(tmp_path):
    result = measured(tmp_path, made_steps(4, lambda rank: 1000.0 * (rank == 2)))
    found = straggler(result)
    assert (found.evidence["rank"], found.evidence["region"], found.evidence["of"]) == (2, "forward", "gpu")
    assert found.evidence["lost_per_step_ns"] == found.evidence["longer_per_step_ns"] == 1_000_000
    assert at_regions(result) == {("forward", "uneven-work")}


def test_a_slow_loader_between_the_steps_is_the_reason(tmp_path):
    ranks = [MadeRank(rank) for rank in (0, 1)]
    for step in range(6):
        at = 1000.0 + 8000.0 * step
        loads = [100.0, 2100.0]
        for rank, us in zip(ranks, loads, strict=True):
            rank.region("enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__", at, us)
            rank.region("train_step", at + us, 3000.0)
            rank.kernel("gemm", at + us + 50, 500.0, launched_us=at + us + 20)
            rank.collective(at + us + 600, at + max(loads) + 700, launched_us=at + us + 100)
    found = straggler(measured(tmp_path, ranks))
    assert found.evidence["rank"] == 1
    assert "Its DataLoader takes 2.00 ms longer" in found.message


def test_a_rank_that_is_behind_and_does_nothing_longer_is_not_named(tmp_path):
    """Its GPU starts 1 ms later in each step, and no step is longer for it."""
    ranks = [MadeRank(rank) for rank in (0, 1)]
    for step in range(8):
        for rank, behind in zip(ranks, (0.0, 1000.0), strict=True):
            at = 1000.0 + 4000.0 * step + behind
            rank.region("train_step", at, 4000.0)
            rank.collective(at + 100, 1000.0 + 4000.0 * step + 1200, launched_us=at + 50)
    result = measured(tmp_path, ranks)
    assert result.ranks[0].collectives.waiting_ns == 8_000_000
    assert straggler(result) is None


def test_without_steps_nobody_is_named(tmp_path):
    ranks = [MadeRank(rank) for rank in (0, 1)]
    for step in range(8):
        ranks[0].collective(1000.0 * step, 1000.0 * step + 900)
        ranks[1].collective(1000.0 * step + 800, 1000.0 * step + 900)
    result = measured(tmp_path, ranks)
    assert result.ranks[0].collectives.waiting_ns == 6_400_000
    assert straggler(result) is None
