"""The server's log file, in which its workers write too; and what it says of the interpreter."""

import subprocess
import sys


async def test_server_and_worker_write_to_the_same_log(start, tmp_path):
    log = tmp_path / "log"
    client = await start(options=["--log", str(log)], settings={"prepare": "off", "environment": {"WORD": "a secret"}})
    uri = client.copy("two_regions.py")
    client.open(uri)
    await client.run_lens(uri, "▷ Profile file")
    await client.message()
    lines = log.read_text().splitlines()
    told = [line.split(": ", 1)[1] for line in lines]
    begins = told.index("Profiling two_regions.py (with WORD) begins")
    ends = next(
        place
        for place, text in enumerate(told)
        if text.startswith("Profiling two_regions.py (with WORD) is done after")
    )
    assert begins < told.index("asked to profile") < ends
    assert begins < told.index('runner: phase {"phase": "measuring"}') < ends
    server, worker = lines[begins].split()[1], lines[told.index("asked to profile")].split()[1]
    assert server != worker
    assert f"worker {worker} started" in told
    assert "a secret" not in log.read_text()
    assert "done\n" not in log.read_text()


def test_a_log_that_cannot_be_written_ends_the_server_before_it_serves(tmp_path):
    command = [sys.executable, "-m", "kinetoscope_server", "--log", str(tmp_path)]
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == f"kinetoscope serve: --log: {tmp_path} cannot be written: Is a directory.\n"


async def test_the_doctor_says_what_a_file_s_runs_have_to_measure_with(start):
    client = await start()
    uri = client.copy("two_regions.py")
    text = await client.execute("kinetoscope.doctor", uri)
    assert f"{sys.executable} (the one that was set)" in text
    assert "\nRegions can be measured on the CPU alone.\n" in text or "on the GPU and the CPU" in text
    assert client.shown_documents[-1].uri.endswith("/details/doctor.txt")


async def test_the_doctor_answers_without_a_file_and_for_what_does_not_run(start):
    client = await start("minimal", {"interpreter": "/no/python"})
    text = await client.execute("kinetoscope.doctor", None)
    assert (
        "- No Python interpreter at /no/python. Give the path of one with --python (in an editor: the setting"
        " kinetoscope.interpreter)." in text
    )
