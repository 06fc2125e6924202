"""How far a benchmark is: what is measured now, repetitions, and time."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.markup import escape
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TextColumn,
    TimeElapsedColumn,
)

from pegasus_bb.bench.measuring import Measuring
from pegasus_bb.bench.rounds import Tell


@contextmanager
def shown_progress() -> Iterator[Tell]:
    """A bar on the terminal; call what this gives before each repetition.

    How many there will be is known for this round only: the noisy ones come again.
    """
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
    )
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("starting", total=None)

        def tell(one: Measuring, done: int, to_do: int) -> None:
            what = escape(f"{one.place.name}: {one.cell}")
            bar.update(task, description=what, completed=done, total=to_do)

        yield tell
