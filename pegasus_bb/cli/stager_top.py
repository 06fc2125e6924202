"""pegasus-bb stager top: who moves what, and how busy each target is."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable
from typing import Any

from rich.live import Live
from rich.text import Text

from pegasus_bb.core.text import columns, printable
from pegasus_bb.core.units import format_size
from pegasus_bb.runtime.stager_client.task import ENDS, PENDING, RUNNING

_STATES = (PENDING, RUNNING, *ENDS)
_OFTEN = 1.0  # seconds between two looks


def show(ask: Callable[[], dict[str, Any]]) -> None:
    """On the terminal, again and again, until Ctrl-C; ``ask`` answers ``users``."""
    with contextlib.suppress(KeyboardInterrupt), Live(auto_refresh=False) as live:
        while True:
            live.update(Text(table(ask())), refresh=True)
            time.sleep(_OFTEN)


def table(found: dict[str, Any]) -> str:
    """The answer to ``users`` for people."""
    users = [("uid", *_STATES, "bytes"), *map(_user, sorted(found["users"].items()))]
    head = ("target", "MB/s", "rate", PENDING, RUNNING, "bytes")
    targets = [head, *map(_target, sorted(found["targets"].items()))]
    lines = columns(users, range(len(users[0])))
    lines += ["", *columns(targets, range(1, len(head)))]
    if found.get("trouble"):
        lines.append(printable(found["trouble"]))
    if found["paused"]:
        lines.append("paused; go on with `control resume`, and the same --sockets")
    return "\n".join(lines)


def _user(entry: tuple[str, dict[str, int]]) -> tuple[str, ...]:
    uid, counts = entry
    shown = [str(counts.get(state, 0)) for state in _STATES]
    return uid, *shown, format_size(counts.get("bytes", 0))


def _target(entry: tuple[str, dict[str, Any]]) -> tuple[str, ...]:
    name, about = entry
    rate = f"{about['rate'] / 1e6:,.0f}" if about["rate"] else "-"
    counts = (str(about[PENDING]), str(about[RUNNING]), format_size(about["bytes"]))
    return name, f"{about['speed'] / 1e6:,.1f}", rate, *counts
