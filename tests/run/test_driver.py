"""What is read from nvidia-smi: a small program that says what it says on other machines stands in its place."""

import pytest

from kinetoscope_core.run.driver import driver_here


@pytest.mark.parametrize(
    ("program", "version", "gpus", "why_none"),
    [
        ("echo 'NVIDIA H200, 575.57.08'\necho 'NVIDIA H200, 575.57.08'", "575.57.08", ("NVIDIA H200",) * 2, None),
        (
            "echo 'NVIDIA-SMI has failed because it could not communicate with the NVIDIA driver.'; exit 9",
            None,
            (),
            "nvidia-smi says: NVIDIA-SMI has failed because it could not communicate with the NVIDIA driver.",
        ),
        ("exit 1", None, (), "nvidia-smi says: exit code 1"),
        ("echo 'No devices were found'", None, (), "nvidia-smi says: No devices were found"),
    ],
)
def test_driver_and_gpus_are_what_nvidia_smi_says(tmp_path, monkeypatch, program, version, gpus, why_none):
    path = tmp_path / "nvidia-smi"
    path.write_text(f"#!/bin/sh\n{program}\n")
    path.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    found = driver_here()
    assert (found.version, found.gpus, found.why_none) == (version, gpus, why_none)


def test_a_machine_without_a_driver_is_one(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    found = driver_here()
    assert (found.version, found.gpus, found.why_none) == (None, (), "nvidia-smi is not there")
