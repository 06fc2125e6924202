"""The copies of a job, those between its nodes and other places among them."""

from __future__ import annotations

from typing import Callable

from pegasus_bb.stager.nodes.node_staging import Nodes
from pegasus_bb.stager.service import Service
from pegasus_bb.stager.slurm.directives import is_on_node
from pegasus_bb.stager.slurm.job import SlurmJob
from pegasus_bb.stager.slurm.job_copies import Ended, JobCopies, NotNow, PlacePairs


class NodeTransfers(JobCopies):
    """What goes to a node waits for pre_run; what comes from one, nodes do."""

    def __init__(
        self, service: Service, save: Callable[[SlurmJob], None], nodes: Nodes
    ) -> None:
        super().__init__(service, save)
        self._nodes = nodes

    def copy(
        self,
        job: SlurmJob,
        places: PlacePairs,
        deadline: int | None,
        ended: Ended,
        not_now: NotNow,
    ) -> None:
        """As of Transfers. Raises OSError as well."""
        away = [(source, dest) for source, dest in places if is_on_node(source)]
        here = [p for p in places if not (is_on_node(p[0]) or is_on_node(p[1]))]
        if not away:
            super().copy(job, here, deadline, ended, not_now)
            return
        parts: list[list[str]] = []
        waits: list[str] = []

        def part(why: list[str]) -> None:
            parts.append(why)
            if len(parts) < 2:
                return
            if waits:
                not_now(waits[0])
            else:
                ended([*parts[0], *parts[1]])

        def part_waits(why: str) -> None:
            waits.append(why)
            part([])

        super().copy(job, here, deadline, part, part_waits)
        self._nodes.stage_out(job, away, part)

    def is_copying(self, job: SlurmJob) -> bool:
        """As of Transfers."""
        return super().is_copying(job) or self._nodes.is_copying(job)
