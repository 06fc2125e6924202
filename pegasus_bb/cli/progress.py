"""A bar for a person who waits, with the time that is left. It goes to standard error,
and only to a terminal."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager


@contextmanager
def progress(what: str) -> Iterator[Callable[[int, int], None]]:
    """What is yielded takes how many of ``what`` are done, and of how many."""
    from rich.console import Console  # slow to load
    from rich.progress import Progress

    hidden = not sys.stderr.isatty()
    console = Console(stderr=True)
    with Progress(console=console, transient=True, disable=hidden) as bar:
        task = bar.add_task(what, total=None)
        yield lambda done, of: bar.update(task, completed=done, total=of)
