"""Progress is one line on any terminal, with its percentage and its time."""

from __future__ import annotations

import fcntl
import io
import os
import pty
import re
import struct
import termios

import pytest
from rich.console import Console

from pegasus_bb.cli.progress_bar import described_progress
from pegasus_bb.run.engine.node_progress import Lines

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


@pytest.mark.parametrize("width", WIDTHS)
def test_a_line_of_a_run_fits_its_terminal(width: int) -> None:
    hand, terminal = pty.openpty()
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 24, width, 0, 0))
    name = "stage_in_remote_cluster_" + "0123456789" * 12 + "_end"
    with os.fdopen(terminal, "w") as out:
        watcher = Lines(out)
        watcher.begin(9_999, 9_998)
        watcher.ended(name, "done", 3_725.0)
        printed = ""
        while not printed.endswith(")\r\n"):
            printed += os.read(hand, 10_000).decode()
    os.close(hand)
    line = printed.splitlines()[-1]
    assert len(line) <= width
    assert line.startswith("[9999/9999] s")
    assert "\u2026" in line
    assert line.endswith("d: done (1 h 02 min)")


def test_a_log_has_the_whole_name() -> None:
    out = io.StringIO()
    watcher = Lines(out)
    watcher.begin(1, 0)
    watcher.ended("n" * 300, "done", 1.0)
    assert "n" * 300 + ": done (1.0 s)" in out.getvalue()
