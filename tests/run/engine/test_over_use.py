"""A run that uses more than it has reserved is told so while it goes on."""

from __future__ import annotations

import io
import os
from pathlib import Path

from pegasus_bb.run.engine.node_progress import Lines
from pegasus_bb.runtime.backends.backend_table import open_backend

from .conftest import Folder, reserved


def test_more_than_reserved_is_said_once(folder: Folder, tmp_path: Path) -> None:
    request = reserved(folder.path, "pbbover", tmp_path / "tier")
    out = io.StringIO()
    lines = Lines(out, folder.path)
    lines.ended("a", "done", 0.1)
    assert "MORE" not in out.getvalue()
    space = open_backend("directory", request.settings).path(request, os.environ)
    Path(space, "sub").write_bytes(bytes(9 << 20))
    lines = Lines(out, folder.path)
    for name in ("b", "c"):
        lines.ended(name, "done", 0.1)
    assert out.getvalue().count("MORE THAN RESERVED: 9.0 MiB of 8.0 MiB") == 1
