"""Regions of every shape, on every thread and under every name: where they stand and how often they were passed."""

from .conftest import SCRIPTS, line_of


def lines(ran, names):
    found = ran.regions()
    assert all(found[name]["file"].startswith(str(SCRIPTS)) for name in names)
    return {name: found[name]["line"] for name in names}


def test_generators_recursion_decorators_and_stacks(kinetoscope):
    ran = kinetoscope("shapes.py", options=["--to-the-end"])
    assert ran.code == 0, ran
    counts = {name: calls for name, (calls, _) in ran.counts().items()}
    assert counts == {
        "across yield": 16,
        "recursion": 12,
        "decorated": 7,
        "method": 4,
        "static": 4,
        "stacked": 4,
        "stacked too": 4,
        "left": 4,
        "right": 4,
    }
    # One line for both: the two stand in one `with`.
    one_line = line_of("shapes.py", 'with record_function("left"), record_function("right")')
    expected = {name: line_of("shapes.py", f'("{name}")') for name in counts if name not in ("left", "right")}
    assert lines(ran, counts) == expected | {"left": one_line, "right": one_line}
    # Recursion: calls nested in themselves are counted, and measured with the outermost one.
    assert ran.counts()["recursion"] == (12, 3)
    # Never left, so it has no time.
    (abandoned,) = ran.result["unmeasured"]
    assert (abandoned["name"], abandoned["calls"], abandoned["unfinished"]) == ("abandoned", 1, 1)
    assert abandoned["line"] == line_of("shapes.py", '("abandoned")')
    assert abandoned["at_least_ns"] > 0
    assert "region-not-reached" not in ran.problems


def test_tasks_that_overlap_on_one_thread(kinetoscope):
    ran = kinetoscope("asynchronous.py", options=["--to-the-end"])
    assert ran.code == 0, ran
    assert ran.script_output == b"all tasks are done\n"
    assert ran.counts() == {"short": (4, 1), "long": (4, 1)}


def test_an_early_end_inside_tasks(kinetoscope):
    ran = kinetoscope("asynchronous.py", options=["--region", "long", "--warmup", "1", "--active", "2"])
    assert ran.code == 0, ran
    assert b"Traceback" not in ran.script_output
    assert ran.counts()["long"][1] >= 2


def test_threads_daemons_and_executors(kinetoscope):
    ran = kinetoscope("threads.py")
    assert ran.code == 0, ran
    assert ran.script_output == b"main is done\n"
    assert ran.counts() == {"daemon": (4, 1), "main": (3, 3), "pool": (6, 3), "outlives main": (5, 2)}


def test_a_thread_ends_the_run_while_the_main_thread_waits_for_it(kinetoscope):
    ran = kinetoscope("thread_forever.py")
    assert ran.code == 0, ran
    assert ran.counts() == {"worker": (8, 5)}
    assert ran.result["torch"]
    assert not ran.script_output


def test_workers_of_a_data_loader_go_on_and_are_said_not_to_be_measured(kinetoscope):
    ran = kinetoscope("loader.py", options=["--to-the-end"])
    assert ran.code == 0, ran
    assert ran.script_output == b"total 264.0\n"
    assert ran.counts() == {"step": (12, 9)}
    assert ran.problems == {"region-not-reached"}


def test_children_by_subprocess_and_fork(kinetoscope):
    ran = kinetoscope("children.py", options=["--to-the-end"])
    assert ran.code == 0, ran
    assert ran.script_output == b"child says\nchild ended with 7\n"
    assert ran.counts() == {"parent": (9, 6)}
    assert ran.problems == {"region-not-reached"}


def test_children_by_spawn_and_a_class_that_is_pickled(kinetoscope):
    ran = kinetoscope("spawns.py", options=["--to-the-end"])
    assert ran.code == 0, ran
    assert ran.script_output == b"3 __main__\n8\n"
    assert ran.counts() == {"map": (9, 6)}


def test_around_and_inside_compiled_code_and_torchscript(kinetoscope):
    ran = kinetoscope("compiled.py", options=["--to-the-end"])
    assert ran.code == 0, ran
    assert ran.script_output.endswith(b"24.0 24.0\n")
    assert ran.counts() == {"around": (4, 1), "in TorchScript": (4, 1)}
    assert ran.regions()["in TorchScript"]["line"] == line_of("compiled.py", '"in TorchScript"')
    missing = [problem for problem in ran.result["problems"] if problem["code"] == "region-not-reached"]
    assert [problem["line"] for problem in missing] == [line_of("compiled.py", '"inside compiled code"')]


def test_names_that_break_traces(kinetoscope):
    ran = kinetoscope("names.py", options=["--to-the-end"])
    assert ran.code == 0, ran
    names = [
        'quote "q"',
        "back\\slash",
        "line\nfeed",
        "tab\tname\x1b[31m\x7f",
        "Übung λ 训练 🔥",
        "",
        "x" * 300,
        "%s {} </script> '",
        "ProfilerStep#7",
        "lone \\ud800 surrogate",
        "quote 'q'",
    ]
    assert ran.counts() == dict.fromkeys(names, (9, 6))
    assert set(lines(ran, names).values()) == {line_of("names.py", "record_function(")}
    assert not ran.result["problems"]


def test_names_are_shown_in_a_terminal_without_breaking_it(kinetoscope):
    ran = kinetoscope("names.py", options=["--to-the-end"], as_json=False)
    assert ran.code == 0, ran
    text = ran.stdout.decode()
    assert "\x1b" not in text
    assert "line\\nfeed" in text
    assert "\\ud800" in text


def test_a_script_of_cells_with_other_ranges_a_dispatch_mode_and_a_loop_that_waits_for_data(kinetoscope):
    """Ranges of NVTX and ITT are no regions. Waiting for data is a finding on a GPU (tests/traces/runs)."""
    ran = kinetoscope("cells.py")
    assert ran.code == 0, ran
    assert ran.script_output == b"in a script\n"
    names = ("outer", "mm", "relu", "step", "next_batch", "train")
    assert ran.counts() == dict.fromkeys(names, (8, 5))
    missing = [problem for problem in ran.result["problems"] if problem["code"] == "region-not-reached"]
    assert [problem["line"] for problem in missing] == [line_of("cells.py", '"without itt"')]
    regions = ran.regions()
    total = {name: regions[name]["cpu_total_ns"]["sum"] for name in names}
    own = {name: regions[name]["cpu_self_ns"]["sum"] for name in names}
    assert 0 < own["outer"] <= total["outer"] - total["mm"] - total["relu"]
    assert 5 * 8 * 4_000_000 <= total["next_batch"] < total["step"]
    assert own["next_batch"] < total["next_batch"] / 2  # it waits in the loader's operator


def test_classes_of_a_profiler_that_was_reloaded_are_followed_as_the_first_were(kinetoscope):
    ran = kinetoscope("reloads.py")
    assert ran.code == 0, ran
    names = ("of the first", "reloaded", "imported anew", "fast")
    assert ran.counts() == {"before": (1, 1)} | dict.fromkeys(names, (8, 5))
    assert not ran.problems


def test_ten_thousand_calls_numbered_names_and_many_layers(kinetoscope):
    ran = kinetoscope("many.py", options=["--to-the-end"])
    assert ran.code == 0, ran
    counts = ran.counts()
    assert counts.pop("often") == (10_000, 9_997)
    assert counts.pop("step_N") == (100, 97)  # of more than 64 names, the series alone
    assert {name: calls for name, (calls, _) in counts.items()} == {f"layer_{n}": 9 for n in range(40)}


def test_numbered_names_end_the_run_too(kinetoscope):
    ran = kinetoscope("numbered.py")
    assert ran.code == 0, ran
    assert list(ran.counts()) == [f"step_{number}" for number in range(1, 65)]


def test_one_region_by_name_by_place_and_by_pattern(kinetoscope):
    first = str(line_of("focus.py", '"first"'))
    for region, options, expected in (
        ("first", [], {"first": 5}),
        ("focus.py:" + first, ["--warmup", "0", "--active", "2"], {"first": 2}),
        ("second_{…}", [], {"second_0": 5, "second_1": 5}),
        ("second_1", ["--warmup", "1", "--active", "3"], {"second_1": 3}),
    ):
        ran = kinetoscope("focus.py", options=["--region", region, *options])
        assert ran.code == 0, ran
        measured = {name: ran.counts()[name][1] for name in expected}
        assert measured == expected
        assert not any(ran.regions()[name]["is_cold"] for name in expected)
        assert "region-not-reached" not in ran.problems


def test_more_warm_up_than_there_is(kinetoscope):
    ran = kinetoscope("loop_after.py", options=["--warmup", "100", "--budget", "0.5"])
    assert ran.regions()["before"]["is_cold"]
    assert ran.counts() == {"before": (2, 2)}
    # In a loop others may come, and none did.
    ran = kinetoscope("shapes.py", options=["--region", "recursion", "--warmup", "100"])
    assert ran.code == 3
    assert "--warmup" in ran.messages


def test_a_region_that_is_not_there(kinetoscope):
    ran = kinetoscope("endings.py", "x", options=["--region", "endings.py:1000"])
    assert ran.code == 2
    work = line_of("endings.py", 'record_function("work")')
    assert f"(regions stand at: {work}, " in ran.messages
    ran = kinetoscope("endings.py", "x", options=["--region", "no such name"])
    assert ran.code == 3
    first = line_of("focus.py", '"first"')
    elsewhere = f"focus.py:{first}"
    ran = kinetoscope("endings.py", "x", options=["--region", elsewhere])
    assert ran.code == 3
    assert f"{elsewhere} was entered. These were entered: work" in ran.messages


def test_wrong_options_are_said(kinetoscope):
    for options in (["--warmup", "-1"], ["--active", "0"], ["--budget", "nan"], ["--time-limit", "0"], ["--no-such"]):
        ran = kinetoscope("no_torch.py", options=options)
        assert ran.code == 2
        assert not ran.stdout
        assert options[0].encode() in ran.stderr


def test_a_script_that_is_edited_while_it_runs_is_shown_at_the_lines_that_ran(kinetoscope, tmp_path):
    script = tmp_path / "edited.py"
    script.write_text((SCRIPTS / "edits_itself.py").read_text())
    line = line_of("edits_itself.py", 'record_function("edited")')
    ran = kinetoscope(script, script)
    assert ran.code == 0, ran
    assert ran.regions()["edited"]["line"] == line


def test_regions_after_the_window_are_said_not_to_be_recorded(kinetoscope):
    ran = kinetoscope("late.py")
    assert ran.code == 0, ran
    assert set(ran.regions()) == {"loop"}
    assert "clean-up (line 14) was entered, but not while the profiler recorded." in ran.messages
