"""How wide a terminal is, and the pages that a user asks for."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, TextIO

import click
import orjson

from pegasus_bb.core.errors import UsageError
from pegasus_bb.core.text import folded


def terminal_width(out: TextIO) -> int | None:
    """Columns of the terminal that ``out`` is; None if it is a file or a pipe."""
    return shutil.get_terminal_size().columns if out.isatty() else None


def echo_lines(lines: Iterable[str], *, err: bool = False) -> None:
    """Print ``lines``; on a terminal, long ones go on below themselves."""
    width = terminal_width(sys.stderr if err else sys.stdout)
    click.echo("\n".join(folded(lines, width)), err=err)


def write_page(path: Path, text: str | bytes) -> None:
    """Write ``text`` to ``path``. Raises UsageError where that cannot be."""
    try:
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
    except OSError as error:
        raise UsageError(
            f"{path}: cannot be written ({error.strerror}); name a file in a folder "
            "that exists and is yours"
        ) from error


def write_trace(path: Path, events: Iterable[Mapping[str, Any]]) -> None:
    """Raises UsageError if ``path`` cannot be written."""
    write_page(path, "".join(f"{orjson.dumps(event).decode()}\n" for event in events))
