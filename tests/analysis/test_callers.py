"""Which function of the user's called the costliest operators and kernels, where a trace holds Python stacks."""

import json

import pytest

from kinetoscope_core.cli.main import main
from kinetoscope_core.jobs.measure import measure_traces
from kinetoscope_core.results.result import from_dict, to_json


def event(cat, name, ts, dur, tid=1, **args):
    return {"ph": "X", "cat": cat, "name": name, "pid": 1, "tid": tid, "ts": ts, "dur": dur, "args": args}


def frame(name, ts, dur, tid=1):
    return event("python_function", name, ts, dur, tid)


def launched(ident, ts, dur, tid=1):
    kernel = {"device": 0, "stream": 7, "correlation": ident}
    return [
        event("cuda_runtime", "cudaLaunchKernel", ts, 2, tid, correlation=ident),
        {"ph": "X", "cat": "kernel", "name": "k", "pid": 0, "tid": 7, "ts": ts + 5, "dur": dur, "args": kernel},
    ]


LIBRARIES = (
    "torch/nn/modules/module.py(1782): _call_impl",
    "contextlib.py(120): decorate_context",
    "/usr/lib/python3.12/functools.py(10): wrapper",
    "/opt/venv/lib/python3.12/site-packages/timm/layers.py(3): forward",
    "<built-in method relu of type object at 0x7f>",
    "nn.Module: Linear_0",
)
TRACE = [
    frame("train.py(30): <module>", 0, 1000),
    frame("my_model.py(5): forward", 10, 200),
    *(frame(name, 11, 190) for name in LIBRARIES),
    event("cpu_op", "aten::linear", 20, 100),
    event("cpu_op", "aten::addmm", 30, 50),  # inside: not counted
    *launched(1, 40, 70),
    event("cpu_op", "aten::linear", 130, 20),
    event("cpu_op", "aten::linear", 300, 30),  # in <module>
    *launched(2, 310, 7),
    frame("train.py(9): load", 400, 50, tid=2),
    event("cpu_op", "aten::copy_", 410, 10, tid=2),
    event("cpu_op", "autograd::engine::evaluate_function: X", 500, 10, tid=3),  # a thread of torch's own
    *launched(3, 501, 90, tid=3),
]


@pytest.fixture
def trace(tmp_path):
    path = tmp_path / "trace.json"
    path.write_text(json.dumps({"traceEvents": TRACE}))
    return path


def callers(shares):
    return {
        each.name: [(by.function, by.file, by.line, by.count, by.total_ns // 1000) for by in each.callers]
        for each in shares
    }


def test_the_innermost_function_outside_libraries_called_it(trace):
    contents = from_dict(json.loads(to_json(measure_traces([trace], [])))).contents
    assert callers(contents.operators) == {
        "aten::linear": [
            ("forward", "my_model.py", 5, 2, 100 + 20 + 70),
            ("<module>", "train.py", 30, 1, 30 + 7),
        ],
        "aten::copy_": [("load", "train.py", 9, 1, 10)],
        "autograd::engine::evaluate_function: X": [],
    }
    assert callers(contents.kernels) == {
        "k": [("forward", "my_model.py", 5, 1, 70), ("<module>", "train.py", 30, 1, 7)]
    }


def test_of_files_that_are_named_it_is_the_innermost_function_in_these(trace, tmp_path):
    source = tmp_path / "train.py"
    source.write_text("x = 1\n")
    contents = measure_traces([trace], [source]).contents
    assert callers(contents.operators)["aten::linear"] == [("<module>", "train.py", 30, 3, 150 + 77)]


def test_the_table_says_where_and_has_no_such_column_without_stacks(trace, capsys):
    assert main(["read", str(trace)]) == 0
    shown = capsys.readouterr().out
    assert "forward, my_model.py:5" in shown
    assert "Called in" in shown
    without = [each for each in TRACE if each["cat"] != "python_function"]
    trace.write_text(json.dumps({"traceEvents": without}))
    assert main(["read", str(trace)]) == 0
    assert "Called in" not in capsys.readouterr().out


def test_regions_have_the_same_times_with_stacks_and_without(tmp_path):
    found = []
    region = event("user_annotation", "region", 15, 250)
    for number, events in enumerate((TRACE, [each for each in TRACE if each["cat"] != "python_function"])):
        path = tmp_path / f"{number}.json"
        path.write_text(json.dumps({"traceEvents": [region, *events]}))
        found.append(measure_traces([path], []).regions)
    assert found[0] == found[1]
    assert found[0][0].cuda_total_ns.sum == 70_000
