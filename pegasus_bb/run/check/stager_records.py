"""Damaged records of the staging service: it does not start before they are mended."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

from pegasus_bb.core.errors import UsageError
from pegasus_bb.model.finding import Finding, wrong
from pegasus_bb.stager.nodes.job_record import read_nodes_record
from pegasus_bb.stager.slurm.buffers import read_buffers
from pegasus_bb.stager.slurm.job import read_job

_READERS: dict[str, Callable[[str], object]] = {
    "buffers.json": read_buffers,
    "jobs/*.json": read_job,
    "nodes/*.json": read_nodes_record,
}


def of_records(state: Path) -> Iterator[Finding]:
    """Nothing where they cannot be read: root can, on the host of the service."""
    for names, read in _READERS.items():
        for path in sorted(state.glob(names)):
            try:
                with suppress(OSError):
                    read(str(path))
            except UsageError as error:
                yield wrong("service", str(error))
