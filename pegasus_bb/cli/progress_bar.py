"""A bar for a person who waits, with the time that is left: one line, however narrow
the terminal is. It goes to standard error, and only to a terminal."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.console import Console
    from rich.progress import Progress

Tell = Callable[[str, int, int], None]  # what is done now, steps done, of how many


@contextmanager
def progress(what: str) -> Iterator[Callable[[int, int], None]]:
    """What is yielded takes how many of ``what`` are done, and of how many."""
    with described_progress() as tell:
        yield lambda done, of: tell(what, done, of)


@contextmanager
def described_progress(*, shown: bool = True) -> Iterator[Tell]:
    """The same for steps of which each has another name."""
    from rich.console import Console  # slow to load
    from rich.markup import escape

    shown = shown and sys.stderr.isatty()
    with _one_line(Console(stderr=True), shown=shown) as bar:
        task = bar.add_task("starting", total=None)

        def tell(what: str, done: int, of: int) -> None:
            bar.update(task, description=escape(what), completed=done, total=of)

        yield tell


def _one_line(console: Console, *, shown: bool) -> Progress:
    """The description and the bar give way to the percentage and the time."""
    from rich import progress
    from rich.table import Column

    cut = Column(no_wrap=True, overflow="ellipsis", ratio=3)
    return progress.Progress(
        progress.TextColumn("{task.description}", table_column=cut),
        progress.BarColumn(None, table_column=Column(ratio=1)),
        progress.TaskProgressColumn(),
        progress.TimeRemainingColumn(),
        console=console,
        expand=True,
        transient=True,
        disable=not shown,
    )
