"""One trace with all that was found in it: what breakdowns and timelines are made from."""

from array import array
from dataclasses import dataclass, field

from kinetoscope_core.attribution import Attribution, in_order
from kinetoscope_core.summary import Window
from kinetoscope_core.trace import Trace


@dataclass(frozen=True, slots=True)
class Recording:
    """A trace, whose work belongs where, and which of its occurrences are whose."""

    trace: Trace
    attribution: Attribution
    window: Window
    _orders: "dict[int, array[int]]" = field(init=False, repr=False, default_factory=dict[int, "array[int]"])

    def order_of(self, thread: int) -> "array[int]":
        """The host slices of a thread in the order in which they were entered."""
        order = self.attribution.nesting.order_of.get(thread) or self._orders.get(thread)
        if order is None:
            host = self.trace.host
            order = array("i", in_order(host, [index for index, each in enumerate(host.thread) if each == thread]))
            self._orders[thread] = order
        return order
