"""Where the `record_function` regions are in Python source text, also while it is being edited and broken.

Reads text only: imports nothing of the user's, opens no other file, and knows neither torch nor any editor.
"""

from kinetoscope_core.source.regions.edited_text import Edit, LineEdit, SourceRegions, find_regions
from kinetoscope_core.source.regions.helpers import Helpers, Import, helped_statements, helpers_of, imports_entered
from kinetoscope_core.source.regions.name_patterns import NamePattern
from kinetoscope_core.source.regions.region import Decorates, Kind, Named, Region
from kinetoscope_core.source.syntax.positions import Encoding, Position, Range

__all__ = [
    "Decorates",
    "Edit",
    "Encoding",
    "Helpers",
    "Import",
    "Kind",
    "LineEdit",
    "NamePattern",
    "Named",
    "Position",
    "Range",
    "Region",
    "SourceRegions",
    "find_regions",
    "helped_statements",
    "helpers_of",
    "imports_entered",
]
