"""What `kinetoscope doctor` says on a machine with a CUDA GPU."""

import sys


def test_the_gpu_is_named_and_its_kernels_are_recorded(kinetoscope):
    ran = kinetoscope("doctor", "--json", "--python", sys.executable)
    found = ran.result
    assert (ran.code, found["measures"], found["problems"]) == (0, "gpu", []), found
    assert found["examined"]["devices"]["devices"]
    assert found["examined"]["recorded"]["failures"] == []
    assert (found["is_preparable"], found["why_not_prepared"]) == (True, None)


def test_hidden_gpus_are_said_to_be_hidden(kinetoscope):
    ran = kinetoscope("doctor", "--python", sys.executable, env={"CUDA_VISIBLE_DEVICES": ""})
    assert ran.code == 0
    assert "\nRegions can be measured on the CPU alone.\n" in ran.stdout
    assert "CUDA_VISIBLE_DEVICES=''" in ran.stdout
