"""The pages that a user asks for."""

from __future__ import annotations

from pathlib import Path

from pegasus_bb.errors import UsageError


def write_page(path: Path, text: str) -> None:
    """Write ``text`` to ``path``. Raises UsageError where that cannot be."""
    try:
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise UsageError(
            f"{path}: cannot be written ({error.strerror}); name a file in a folder "
            "that exists and is yours"
        ) from error
