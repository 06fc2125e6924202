"""simulate --trace: what happened, a line of JSON for each event."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import orjson

from pegasus_bb.cli.output import write_page
from pegasus_bb.model.run import Run


def write_trace(path: Path, events: Iterable[Mapping[str, Any]]) -> None:
    """Raises UsageError if ``path`` cannot be written."""
    write_page(path, "".join(f"{orjson.dumps(event).decode()}\n" for event in events))


def events_of(runs: Mapping[str, Sequence[Run]]) -> Iterator[dict[str, Any]]:
    """Of the first run of each mode, when each node was ready, ran and ended: seconds
    since the start."""
    for mode, (run, *_) in runs.items():
        for node in sorted(run.nodes, key=lambda node: (node.ready or 0.0, node.node)):
            yield {
                "mode": mode,
                "node": node.node,
                "ready": node.ready,
                "executing": node.executing,
                "terminated": node.terminated,
                "ended": node.ended,
            }
