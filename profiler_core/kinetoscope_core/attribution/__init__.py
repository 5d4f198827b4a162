"""Which device work belongs to which region (docs/measures.md). Knows traces as columns and nothing of files."""

from kinetoscope_core.attribution.attributing import Attribution, attribute

__all__ = ["Attribution", "attribute"]
