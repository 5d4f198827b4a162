"""Puts regions around code and takes them out again, as edits of its text: a pure function of text and place.

What is done leaves the meaning of the code as it is but for the region, and looks as ruff would leave it. Where that
cannot be, there is a `Refusal` with the reason.
"""

from kinetoscope_core.source.wrapping.measure import Measured, measure_block, measure_function, measure_loop_body
from kinetoscope_core.source.wrapping.remove import Removed, remove_region
from kinetoscope_core.source.wrapping.stretch import Refusal

__all__ = [
    "Measured",
    "Refusal",
    "Removed",
    "measure_block",
    "measure_function",
    "measure_loop_body",
    "remove_region",
]
