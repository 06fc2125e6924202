"""How far a copy is: a bar, the rate, and when it will be done."""

from __future__ import annotations

import os
import stat
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

from rich.console import Console
from rich.progress import (
    BarColumn,
    DownloadColumn,
    Progress,
    TextColumn,
    TimeRemainingColumn,
    TransferSpeedColumn,
)

from pegasus_bb.staging.stage import Stage


@contextmanager
def shown_progress(stage: Stage) -> Iterator[Callable[[int], None]]:
    """A bar on the terminal; call what this gives with bytes as they are copied.

    What is still to come is counted beside: the bar has no end until that is known.
    """
    columns = (
        TextColumn("{task.fields[files]} files"),
        BarColumn(),
        DownloadColumn(binary_units=True),
        TransferSpeedColumn(),
        TimeRemainingColumn(),
    )
    ended = threading.Event()
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("", total=None, files=0)

        def count() -> None:
            total = 0
            for size in _sizes(stage.source):
                total += size
                if ended.is_set():
                    return
            bar.update(task, total=total)

        def tell(size: int) -> None:
            bar.update(task, advance=size, files=stage.files + stage.kept)

        counting = threading.Thread(target=count, daemon=True)
        counting.start()
        try:
            yield tell
        finally:
            ended.set()
            counting.join()


def _sizes(path: str) -> Iterator[int]:
    """Of every regular file below ``path``; what cannot be read counts nothing."""
    if not os.path.isdir(path):
        yield os.lstat(path).st_size
        return
    for folder, _, names in os.walk(path):
        for name in names:
            with suppress(OSError):
                found = os.lstat(os.path.join(folder, name))
                yield found.st_size if stat.S_ISREG(found.st_mode) else 0
