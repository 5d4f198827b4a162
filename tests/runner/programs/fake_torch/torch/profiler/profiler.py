import os
import sys

from ..autograd import profiler


class _KinetoProfile:
    def __init__(self, **_):
        self.profiler = profiler.profile()

    def start(self):
        profiler.recording = self.profiler.events = []

    def stop(self):
        profiler.recording = None
        if "FAKE_TORCH_ABORTS" in os.environ:
            os.write(2, b"INFO:2026-11-30 06:00:00 1:1 a.cpp:1] of Kineto\na library says why\n")
            os.abort()

    def toggle_collection_dynamic(self, enable, activities):
        os.write(2, b"[rank0]:[W1130 06:00:00.1 k.cpp:12] Warning: Toggling CPU activity\n")

    def export_chrome_trace(self, path):
        self.profiler.export_chrome_trace(path)


class profile(_KinetoProfile):
    def start(self):
        super().start()


assert sys.modules["torch.autograd.profiler"] is profiler
