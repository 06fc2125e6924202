"""The copies of a job, those between its nodes and other places among them."""

from __future__ import annotations

from typing import Any, Callable

from pegasus_bb.stager.nodes.node_staging import Nodes
from pegasus_bb.stager.service import Service
from pegasus_bb.stager.slurm.directives import is_on_node
from pegasus_bb.stager.slurm.job import SlurmJob
from pegasus_bb.stager.slurm.job_copies import Ended, JobCopies, PlacePairs


class NodeTransfers(JobCopies):
    """What goes to a node waits for pre_run; what comes from one, nodes do."""

    def __init__(
        self, service: Service, save: Callable[[Any], None], nodes: Nodes
    ) -> None:
        super().__init__(service, save)
        self._nodes = nodes

    def copy(
        self, job: SlurmJob, places: PlacePairs, deadline: int | None, ended: Ended
    ) -> None:
        """As ``JobCopies.copy``. Raises OSError as well."""
        away = [pair for pair in places if is_on_node(pair[0])]
        here = [pair for pair in places if not any(map(is_on_node, pair))]
        if not away:
            super().copy(job, here, deadline, ended)
            return
        failures: list[str] = []
        waits: list[str] = []  # of each part; empty: it is over

        def part(why: list[str], later: str) -> None:
            failures.extend(why)
            waits.append(later)
            if len(waits) == 2:
                ended([] if any(waits) else failures, max(waits))

        super().copy(job, here, deadline, part)
        self._nodes.stage_out(job, away, part)

    def is_copying(self, job: SlurmJob) -> bool:
        """As ``JobCopies.is_copying``."""
        return super().is_copying(job) or self._nodes.is_copying(job)
