"""Finds record_function regions, runs them under torch.profiler, measures and keeps them; knows no editor."""

__version__ = "0.1.0"
