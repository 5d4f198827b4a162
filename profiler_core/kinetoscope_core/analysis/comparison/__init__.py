"""Two sides, each of one or more processes, region by region: what changed, by how much, and whether that is noise."""

from kinetoscope_core.analysis.comparison.compare import compare

__all__ = ["compare"]
