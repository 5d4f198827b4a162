"""Carry measured regions to their place in edited text, and say when their times no longer belong to the code there.

Compares texts only: knows no editor, no files and no times.
"""

from kinetoscope_core.source.placement.fingerprints import Fingerprint, fingerprints_of
from kinetoscope_core.source.placement.placement import Placement, Placer, Stale, matched

__all__ = ["Fingerprint", "Placement", "Placer", "Stale", "fingerprints_of", "matched"]
