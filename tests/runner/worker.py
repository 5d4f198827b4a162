"""The worker as the server drives it, for runs in a prepared interpreter."""

import json
import subprocess
import sys
from pathlib import Path

from kinetoscope_core.run.standby import Preparation
from kinetoscope_core.runner.request import RunRequest

CORE = Path(__file__).parents[2] / "profiler_core"
WITHOUT_SCAN = Path(__file__).with_name("worker_without_scan.py")
SCRIPTS = Path(__file__).parent / "scripts"


class Worker:
    """One worker: `prepare`, then `profile`. All events are kept."""

    def __init__(self, kinetoscope, folder=SCRIPTS, scans=False, **environment):
        self.folder = folder
        self.environment = environment
        self.events = []
        self._process = kinetoscope.popen(
            [sys.executable, *(["-m", "kinetoscope_core.jobs.worker"] if scans else [str(WITHOUT_SCAN)])],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env=kinetoscope.environment,
            cwd=CORE,
        )

    def say(self, **message):
        self._process.stdin.write(json.dumps(message).encode() + b"\n")
        self._process.stdin.flush()

    def until(self, *events):
        """The next event of these names."""
        for line in self._process.stdout:
            event = json.loads(line)
            self.events.append(event)
            if event["event"] in events:
                return event
        raise AssertionError(self.events)

    def prepare(self, preparation):
        self.say(do="prepare", preparation=preparation)
        return self.until("prepared", "not_prepared")

    def profile(self, script, *arguments, interpreter=sys.executable, **others):
        """Runs the script to its end, and returns the last event."""
        request = RunRequest(
            str(self.folder / script),
            arguments=arguments,
            interpreter=str(interpreter),
            folder=str(self.folder),
            environment=self.environment,
            prepares_next=True,
        )
        self.say(do="profile", request=request._replace(**others).as_dict())
        last = self.until("result", "error")
        self.end()
        return last

    def end(self):
        """Takes what comes until the worker has ended by itself."""
        self.events += map(json.loads, self._process.stdout)
        self._process.stdin.close()
        self._process.stdout.close()
        assert self._process.wait(20) == 0

    @property
    def output(self):
        return "".join(event["text"] for event in self.events if event["event"] == "output")

    @property
    def output_by_stream(self):
        """What came on each; which of two pipes is read first is chance."""
        found = {}
        for event in self.events:
            if event["event"] == "output":
                found[event["stream"]] = found.get(event["stream"], "") + event["text"]
        return found

    def why(self, name):
        """What the events of this name say."""
        return [event["why"] for event in self.events if event["event"] == name]


def preparation(worker, script, packages=(), *, interpreter=sys.executable, cuda=False):
    """What to prepare: torch, and these packages that a user names."""
    request = RunRequest(
        str(worker.folder / script),
        arguments=("a", "b"),
        interpreter=str(interpreter),
        folder=str(worker.folder),
        environment=worker.environment,
        packages=tuple(packages),
    )
    return Preparation(request, cuda, 30.0).as_dict()
