"""A sweep in a terminal."""

from rich import box
from rich.console import Console
from rich.table import Table

from kinetoscope_core.output.sweep_text import notes, tables, title_text
from kinetoscope_core.results.sweep import Sweep


def print_sweep(console: Console, sweep: Sweep) -> None:
    """What ran, a block of rows for each region, and which settings failed and why."""
    console.print(title_text(sweep))
    for each in tables(sweep):
        table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
        for number, heading in enumerate(each.headings):
            table.add_column(heading, overflow="fold", min_width=10 if number == 0 else None)
        for block in each.blocks:
            for row in block:
                table.add_row(*row.cells, end_section=row is block[-1])
        console.print(table)
    for line in notes(sweep):
        console.print(line)
