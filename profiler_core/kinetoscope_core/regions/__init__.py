"""Where the `record_function` regions are in Python source text, also while it is being edited and broken.

Reads text only: imports nothing of the user's, opens no other file, and knows neither torch nor any editor.
"""

from kinetoscope_core.regions.helpers import helped_statements
from kinetoscope_core.regions.patterns import NamePattern
from kinetoscope_core.regions.positions import Encoding, Position, Range, byte_column, line_starts, units_before
from kinetoscope_core.regions.region import Decorates, Kind, Region, region_at
from kinetoscope_core.regions.source import Edit, LineEdit, SourceRegions, find_regions

__all__ = [
    "Decorates",
    "Edit",
    "Encoding",
    "Kind",
    "LineEdit",
    "NamePattern",
    "Position",
    "Range",
    "Region",
    "SourceRegions",
    "byte_column",
    "find_regions",
    "helped_statements",
    "line_starts",
    "region_at",
    "units_before",
]
