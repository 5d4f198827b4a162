"""Carry measured regions to their place in edited text, and say when their times no longer belong to the code there.

Compares texts only: knows no editor, no files and no times.
"""

from kinetoscope_core.placing.placement import Placement, Placer, Stale, fits, place
from kinetoscope_core.placing.prints import RegionPrint, print_at, region_prints

__all__ = ["Placement", "Placer", "RegionPrint", "Stale", "fits", "place", "print_at", "region_prints"]
