"""The script's own profilers, in the ways that the first argument names."""

import json
import os
import sys
import time

import torch
from torch.profiler import ProfilerActivity, profile, record_function, schedule, tensorboard_trace_handler

how = sys.argv[1]
CPU = [ProfilerActivity.CPU]


def passes(name, count=3):
    for _ in range(count):
        with record_function(name):
            torch.ones(8) + 1


def size_of(path):
    return os.path.getsize(path) > 500


passes("before", 2)
if how == "plain":
    with profile(activities=CPU) as p:
        passes("inside")
    p.export_chrome_trace("own.json")
    print("exported", size_of("own.json"), "measured" if "inside" in p.key_averages().table() else "lost")
    try:
        p.export_chrome_trace("again.json")
    except RuntimeError as error:
        print(error)
if how == "schedule":

    def ready(p):
        if os.environ.get("RANK") == "1":  # rank 0 alone exports
            return
        p.export_chrome_trace(f"cycle{p.step_num}.json")
        print("cycle", p.step_num, any(event.key == "inside" for event in p.key_averages()))

    plan = schedule(wait=1, warmup=1, active=2, repeat=2)
    with profile(activities=CPU, schedule=plan, on_trace_ready=ready) as p:
        for _ in range(10):
            passes("inside", 1)
            p.step()
if how == "never active":
    with profile(activities=CPU, schedule=schedule(wait=100, warmup=1, active=2)) as p:
        for _ in range(3):
            passes("inside", 1)
            p.step()
if how == "tensorboard":
    for use_gzip in (False, True):
        with profile(activities=CPU, on_trace_ready=tensorboard_trace_handler("board", use_gzip=use_gzip)):
            passes("inside")
    print(sorted(name.split(".", 2)[2].partition("pt.")[2] for name in os.listdir("board")))
if how == "with stacks":
    with profile(activities=CPU, with_stack=True) as p:
        passes("inside")
        time.sleep(0.6)  # our watching thread looks four times a second
    p.export_chrome_trace("own.json")
    shown = [event.key for event in p.key_averages(group_by_stack_n=5)]
    with open("own.json") as file:
        shown += [event["name"] for event in json.load(file)["traceEvents"] if "name" in event]
    of_our_thread = ("select", "_watch", "threading.py", "channel.py", "poll")
    print("inside" in shown, [name for name in shown if any(each in name for each in of_our_thread)])
if how == "endless":
    with profile(activities=CPU):
        passes("inside")
        print("now: recording", file=sys.stderr, flush=True)
        while True:
            time.sleep(0.01)
if how == "stubborn":
    with profile(activities=CPU):
        passes("inside")
        print("now: recording", file=sys.stderr, flush=True)
        while True:
            try:
                time.sleep(1000)
            except KeyboardInterrupt:
                print("I stay", file=sys.stderr, flush=True)
if how == "long clean-up":
    try:
        with profile(activities=CPU) as p:
            passes("inside")
            print("now: recording", file=sys.stderr, flush=True)
            time.sleep(1000)
    finally:
        p.export_chrome_trace("own.json")
        print("now: cleaning up", size_of("own.json"), file=sys.stderr, flush=True)
        time.sleep(1000)
if how == "gzip":
    with profile(activities=CPU) as p:
        passes("inside")
    p.export_chrome_trace("own.json.gz")
    with open("own.json.gz", "rb") as file:
        print(file.read(2).hex())
if how == "two, exported later":
    with profile(activities=CPU) as one:
        passes("inside one")
    with profile(activities=CPU) as two:
        passes("inside two", 4)
    passes("between")
    one.export_chrome_trace("one.json")
    two.export_chrome_trace("two.json")
    for name in ("one", "two"):
        with open(f"{name}.json") as file:
            print(name, f'"inside {name}"' in file.read())
    print(one.key_averages().table(row_limit=3) != "")
if how == "never stopped":

    def start():
        profile(activities=CPU).start()

    start()
    passes("inside")
if how == "autograd":
    with torch.autograd.profiler.profile() as p:
        passes("inside")
    print("measured" if "inside" in p.table() else "lost")
if how == "in a region":
    with record_function("around"):
        with profile(activities=CPU):
            passes("inside")
if how == "failing":
    with profile(activities=CPU):
        passes("inside")
        raise ValueError("in my profile")
if how == "itt":
    if torch.profiler.itt.is_available():
        with torch.autograd.profiler.emit_itt():
            passes("inside")
    try:
        with torch.autograd.profiler.emit_nvtx():
            passes("inside nvtx")
    except Exception as error:
        print(type(error).__name__)
passes("after", 2)
print("done")
