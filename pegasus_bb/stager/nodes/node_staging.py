"""The folders of jobs on their nodes: filled before the job, emptied after it, gone.

Every order is in a record before a node gets it, so a service that is killed goes on
from the records. Nothing here waits: ``look`` is called again and again.
"""

from __future__ import annotations

import os
import time
from collections.abc import Sequence
from typing import Any

from pegasus_bb.core.errors import UsageError
from pegasus_bb.core.units import abbreviate, format_duration
from pegasus_bb.runtime.stager_client.dataspace import Dataspaces
from pegasus_bb.runtime.stager_client.protocol import Refused
from pegasus_bb.stager.messages import message_of
from pegasus_bb.stager.nodes.contents import conflicts, divide
from pegasus_bb.stager.nodes.hostlist import expand
from pegasus_bb.stager.nodes.mailbox import NodeBox, check_mailbox
from pegasus_bb.stager.nodes.orders import GONE, IN, LIST, OUT, NodesRecord
from pegasus_bb.stager.service import Service
from pegasus_bb.stager.slurm.directives import is_on_node
from pegasus_bb.stager.slurm.job import SlurmJob
from pegasus_bb.stager.slurm.job_copies import Ended, JobCopies, PlacePairs
from pegasus_bb.stager.slurm.slurm_config import NodesConfig
from pegasus_bb.stager.slurm.spool import HookRequest, Spool
from pegasus_bb.stager.store import Records

_PAUSE = 5  # times as long as a stage-out that failed took: then it is tried again
_QUIET = 30.0  # seconds without a sign of life that are worth a word
_LONGEST = 600.0  # seconds; also where a clock that was set says that it took days


class Nodes(JobCopies):
    """Does the copies of jobs, those with folders on their nodes, too: what goes to a
    node waits for pre_run, and what comes from a node is copied there. ``config`` is
    None where the site has no storage on nodes."""

    def __init__(
        self,
        config: NodesConfig | None,
        spool: Spool,
        service: Service,
        files: Records[Any],
    ) -> None:
        """``service`` has the records of an earlier one, too. Raises OSError,
        UsageError."""
        super().__init__(service, files)
        if config is not None:
            check_mailbox(config.mailbox)
        self._of_site = config
        self._trouble: dict[str, str] = {}  # with the letters of a node
        self._spool, self._spaces = spool, service.spaces
        self._records = Records(service.store, NodesRecord)
        if self._records.all() and config is None:
            raise UsageError(
                "nodes is not in the configuration, and jobs have folders on nodes; "
                "declare it until the last of them has ended"
            )
        self._ended: dict[str, Ended] = {}  # by folder
        self._not_before: dict[str, float] = {}  # time.monotonic() of the next try

    @property
    def _config(self) -> NodesConfig:
        """Raises Refused where the site has no storage on nodes; then there are no
        records."""
        if self._of_site is None:
            raise Refused(
                "no-nodes",
                "node://: this site stages nothing on nodes; its administrator can "
                "configure it",
            )
        return self._of_site

    def path(self, job: SlurmJob) -> str:
        """Return the path of the job's folder on each of its nodes. Raises Refused."""
        return os.path.join(self._config.path, job.life)

    def of(self, job: SlurmJob) -> list[str]:
        """Return the nodes that have the job's folder, or may have."""
        record = self._records.get(job.life)
        return record.nodes if record is not None and record.want != GONE else []

    # -- before the job

    def stage_in(
        self, job: SlurmJob, request: HookRequest, places: PlacePairs, ended: Ended
    ) -> None:
        """Fill the folder of ``job``, whose pre_run waits, on each node of the request.

        Raises Refused, ValueError; OSError where that cannot be noted.
        """
        self.path(job)
        nodes = expand(request.fields.get("nodes", ""))
        if not nodes:
            raise Refused("no-nodes", "Slurm does not say on which nodes the job runs")
        record = self._records.get(job.life) or NodesRecord(job)
        is_known = record.want == IN and record.hosts == nodes and not record.failures
        record.token = request.token
        record.deadline = request.noted_at + self._config.timeout
        if not is_known:
            copies = _as_paths(self._spaces, [p for p in places if is_on_node(p[1])])
            record.hosts = nodes
            record.nodes = list(dict.fromkeys([*record.nodes, *nodes]))
            record.ask(IN, dict.fromkeys(nodes, copies))
        self._records.save(record)
        self._ended[record.folder] = ended
        self.look()

    def resume(self, job: SlurmJob, ended: Ended) -> None:
        """Go on where an earlier service was filling the folders of ``job``."""
        record = self._records.get(job.life)
        if record is not None and record.want == IN and record.token:
            self._ended[record.folder] = ended

    # -- after the job

    def copy(
        self, job: SlurmJob, places: PlacePairs, deadline: int | None, ended: Ended
    ) -> None:
        """As ``JobCopies.copy``; what comes from nodes comes last."""
        away = [pair for pair in places if is_on_node(pair[0])]
        here = [pair for pair in places if not any(map(is_on_node, pair))]

        def then(why: list[str], later: str) -> None:
            try:
                self._stage_out(
                    job, away, lambda more, wait: ended([*why, *more], later or wait)
                )
            except OSError as error:
                ended([], message_of(error))

        super().copy(job, here, deadline, then if away else ended)

    def _stage_out(self, job: SlurmJob, places: PlacePairs, ended: Ended) -> None:
        """Copy each result from the nodes that have it. What an earlier call has begun
        or done is not begun again. Raises OSError."""
        record = self._records.get(job.life)
        if record is None or record.want == GONE:
            ended([], "")  # the job has never been on a node
            return
        self._ended[record.folder] = ended
        record.exit_code = job.exit_code
        record.results = _as_paths(self._spaces, places)
        if record.want == OUT and record.failures and not record.silent:
            record.ask(OUT, {node: record.todo[node] for node in record.failures})
        elif record.want == IN or (record.want == LIST and not record.silent):
            self._begin_stage_out(record)
        self._records.save(record)
        self.look()

    def _begin_stage_out(self, record: NodesRecord) -> None:
        want = LIST if len(record.hosts) > 1 else OUT
        record.ask(want, dict.fromkeys(record.hosts, record.results))

    def is_copying(self, job: SlurmJob) -> bool:
        """Also whether nodes are at work for ``job``, or shall not be asked again
        yet."""
        pause = self._not_before.get(job.life, 0.0)
        is_at_work = job.life in self._ended or time.monotonic() < pause
        return is_at_work or super().is_copying(job)

    def give_back(self, job: SlurmJob) -> None:
        """The folders of ``job`` are removed with all that is in them; a node that is
        down does so when it is back. Raises OSError."""
        record = self._records.get(job.life)
        if record is not None and record.want != GONE:
            self._let_go(record, "the job was cancelled")

    def _let_go(self, record: NodesRecord, why: str) -> None:
        self._ended.pop(record.folder, None)
        self._not_before.pop(record.folder, None)
        self._answer_pre_run(record, why)
        record.ask(GONE, {node: [] for node in record.nodes})
        self._records.save(record)
        self.look()

    # -- what nodes say

    def look(self) -> None:
        """Send what is not sent, read answers, give up what takes too long. Raises
        OSError."""
        for record in self._records.all():
            if self._records.get(record.folder) is not record:
                continue
            if self._collect(record):
                self._records.save(record)
            is_sent = self._send(record)
            if record.want == GONE:
                if is_sent:
                    self._records.remove(record)
                continue
            if not record.silent:
                self._advance(record)
            elif record.token and time.time() > record.deadline:
                self._give_up(record)

    def as_json(self) -> list[dict[str, Any]]:
        """Which nodes have not done yet what they shall do; for clients."""
        return [
            {
                "job": record.job,
                "uid": record.uid,
                "node": node,
                "want": record.want,
                "since": round(record.begun, 3),
                "message": self._state_of(node),
            }
            for record in self._records.all()
            for node in record.silent
            if record.want != GONE
        ]

    def _send(self, record: NodesRecord) -> bool:
        """Write the order's letters that are not there; whether all of them are."""
        for node in record.silent:
            order = record.order(node, self._config.path)
            try:
                self._box(node).post_once(record.folder, record.number, order)
            except OSError as error:
                self._trouble[node] = message_of(error)
                return False
        return True

    def _box(self, node: str) -> NodeBox:
        return NodeBox(self._config.mailbox, node)

    def _collect(self, record: NodesRecord) -> bool:
        """Whether ``record`` got an answer that was not there before."""
        silent = record.silent
        for node in silent:
            try:
                answer = self._box(node).answer(record.folder, record.number)
                self._trouble.pop(node, None)
            except (OSError, ValueError) as error:
                self._trouble[node] = str(error)
                continue
            if answer is not None:
                record.answers[node] = answer
        return len(record.silent) < len(silent)

    def _state_of(self, node: str) -> str:
        """Return why there is no answer of ``node``, as far as is known."""
        silence = self._box(node).silence()
        if node in self._trouble:
            return self._trouble[node]
        if silence is None:
            return "its service does not run"
        if silence > _QUIET:
            return f"no sign of life for {format_duration(silence)}"
        return "its service is at work"

    def _advance(self, record: NodesRecord) -> None:
        """All nodes have answered."""
        if record.folder not in self._ended:
            return
        if record.want == LIST and not record.failures:
            found = {node: record.answers[node]["found"] for node in record.todo}
            why = conflicts(found, record.results)
            if not why:
                todo = divide(found, record.results)
                record.ask(OUT, {n: [*map(list, c)] for n, c in todo.items() if c})
                self._records.save(record)
                return
        else:
            failures = record.failures.items()
            why = [f"{node}: {each}" for node, every in failures for each in every]
        if why:
            again = time.monotonic() + pause_after(record.begun)
            self._not_before[record.folder] = again
        ended = self._ended.pop(record.folder)
        if record.want == IN and why:
            self._let_go(record, abbreviate(why))
            return
        try:
            ended(why, "")
        except OSError:  # the next look does it again
            self._ended[record.folder] = ended
            raise
        if record.want == IN:
            self._answer_pre_run(record, "")
            self._records.save(record)

    def _give_up(self, record: NodesRecord) -> None:
        """pre_run fails: Slurm tears the job down, and tries again later."""
        silent = [f"{node} ({self._state_of(node)})" for node in record.silent]
        late = f"after {self._config.timeout} s: {abbreviate(silent)}"
        self._let_go(record, f"the data is not on the job's nodes {late}")

    def _answer_pre_run(self, record: NodesRecord, message: str) -> None:
        if record.token:
            self._spool.answer_job(record.job, record.token, message)
            record.token = ""


def pause_after(begun: float) -> float:
    """Return seconds from a failure to the next try of what ``begun`` then."""
    return min(_PAUSE * max(0.0, time.time() - begun), _LONGEST)


def _as_paths(spaces: Dataspaces, places: Sequence[tuple[str, str]]) -> list[list[str]]:
    """Absolute paths, for the dataspaces of a node may have other names; ``node://``
    stays as it is. Raises Refused."""
    return [[_path_of(spaces, place) for place in pair] for pair in places]


def _path_of(spaces: Dataspaces, place: str) -> str:
    name, _, path = place.partition("://")
    if is_on_node(place):
        return place
    if name not in spaces:
        raise Refused("bad-place", f"{place}: no dataspace {name}")
    return f"{spaces[name].root}/{path}"
