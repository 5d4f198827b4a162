"""What stored runs are compared with: asked for by id."""

from kinetoscope_core.results.comparison import Comparison
from kinetoscope_core.results.store import Store


def comparison_of(run: str, other: str | None = None) -> Comparison | None:
    """From the other run to this one; without another, from its baseline, `None` where it has none.

    Raises `UsageError`.
    """
    from kinetoscope_core.jobs import sides  # noqa: PLC0415 - brings what reads traces, which most sessions never want

    store = Store()
    if other is None:
        return sides.against_baseline(store, run)
    return sides.compared(store, store.stored(other).id, store.stored(run).id)
