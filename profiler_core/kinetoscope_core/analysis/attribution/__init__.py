"""Which device work belongs to which region (docs/measures.md). Knows traces as columns and nothing of files."""

from kinetoscope_core.analysis.attribution.attribute import Attribution, attribute
from kinetoscope_core.analysis.attribution.nesting import DirectOperators, in_order

__all__ = ["Attribution", "DirectOperators", "attribute", "in_order"]
