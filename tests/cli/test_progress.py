"""Progress is one line on any terminal, with its percentage and its time."""

from __future__ import annotations

import io
import re

import pytest
from rich.console import Console

from pegasus_bb.cli.progress_bar import described_progress

WIDTHS = [40, 80, 100]
LONG = "tier bb: 64.0 MiB blocks, file per process, 16 processes, [fsync], repetition 3"
_CODE = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")
_UP = "\x1b[1A"  # a bar of several lines goes up to be drawn again


@pytest.mark.parametrize("width", WIDTHS)
def test_a_bar_is_one_line_with_its_time(width: int) -> None:
    out = io.StringIO()
    console = Console(file=out, width=width, force_terminal=True, _environ={})
    with described_progress(console) as tell:
        for done in range(1, 4):
            tell(LONG, done, 12)
    drawn = [_CODE.sub("", line) for line in re.split(r"[\r\n]+", out.getvalue())]
    bars = [line for line in drawn if line.startswith("tier")]
    assert bars, out.getvalue()
    for line in bars:
        assert len(line) <= width
        assert re.search(r"\u2026.* 25% +[0-9-]:[0-9-]+:[0-9-]+\s*$", line), line
    assert _UP * 2 not in out.getvalue()
