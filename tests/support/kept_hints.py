"""For tests of hints: a file system that keeps none cannot show them."""

from __future__ import annotations

from pathlib import Path

import pytest

from pegasus_bb.model.placement import HINTS
from pegasus_bb.runtime.staging.hints import hint_of, set_hint


@pytest.fixture(autouse=True)
def keeps_hints(tmp_path: Path) -> None:
    probe = tmp_path / "probe"
    with probe.open("wb") as file:
        set_hint(file.fileno(), HINTS["long"])
        try:
            kept = hint_of(str(probe)) == HINTS["long"]
        except OSError:
            kept = False
    if not kept:
        pytest.skip(f"the file system of {tmp_path} keeps no hints")
    probe.unlink()
