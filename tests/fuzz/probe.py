"""One input for one reader: read, refused in the words it promised, or a mistake."""

from __future__ import annotations

import shutil
import tempfile
import time
from pathlib import Path

from pegasus_bb.core.errors import CatalogError

from .targets import Target

SECONDS = 5.0  # of processor time; the longest that any small file may take
_MEMORY = Path("/dev/shm")  # where nothing is waited for


class Slow(Exception):
    """A small file that takes very long to read."""


def probe(target: Target, data: bytes) -> str:
    """How it ended: read, or refused. Raises whatever the reader must not."""
    place = str(_MEMORY) if _MEMORY.is_dir() else None
    folder = Path(tempfile.mkdtemp(prefix="pegasus-bb-fuzz-", dir=place))
    try:
        path = folder / target.file
        path.write_bytes(data)
        began = time.process_time()
        said = _read(target, path)
        if time.process_time() - began > SECONDS:
            raise Slow(f"{target.name}: {time.process_time() - began:.1f} s")
        return said
    finally:
        shutil.rmtree(folder)


def _read(target: Target, path: Path) -> str:
    try:
        target.read(path)
    except target.raises as error:
        if isinstance(error, CatalogError):
            assert str(path) in str(error), f"names no file: {error}"
        return "refused"
    return "read"
