"""What a job gets for its directives: space in pools, folders, paths."""

from __future__ import annotations

import os
from dataclasses import dataclass

from pegasus_bb.runtime.stager_client.dataspace import Dataspaces, as_roots, place_of
from pegasus_bb.runtime.stager_client.protocol import Refused
from pegasus_bb.stager.nodes.node_staging import Nodes
from pegasus_bb.stager.slurm.buffers import READY, Buffers
from pegasus_bb.stager.slurm.directives import PlacePair, is_on_node
from pegasus_bb.stager.slurm.granted_space import Pools
from pegasus_bb.stager.slurm.job import SlurmJob
from pegasus_bb.stager.slurm.space_folders import Trash, make_folder
from pegasus_bb.stager.store import Records


@dataclass(frozen=True)
class JobStorage:
    """Gives jobs space in pools, on nodes and in buffers, and takes it back."""

    spaces: Dataspaces
    pools: Pools
    buffers: Buffers
    trash: Trash
    nodes: Nodes
    files: Records[SlurmJob]

    def make(self, job: SlurmJob) -> bool:
        """Make the buffers that ``job`` asks for; return whether it has all of them
        now. Raises Refused, OSError."""
        directives = job.directives
        if directives.capacity and not self._grant(job, directives.capacity):
            return False
        uuid = f"job-{job.number}"
        made = [
            self.buffers.create(job.uid, job.gid, name, size, uuid, pool)
            for name, size, pool in directives.stores
        ]
        return all(buffer.state == READY for buffer in made)

    def environ(self, job: SlurmJob) -> dict[str, str]:
        """Return the variables that say where the job's buffers are; from now on it
        uses the persistent ones. Raises Refused."""
        found: dict[str, str] = {}
        if job.folder:
            found["BB_JOB"] = self.path(job)
        directives = job.directives
        if directives.uses_nodes:
            found["BB_NODE"] = self.nodes.path(job)
        names = [*(name for name, _, _ in directives.stores), *directives.uses]
        for name in names:
            buffer = self.buffers.readable(name, job.uid, job.buffers)
            found[f"BB_PERSISTENT_{name}"] = buffer.path
        job.buffers = names
        return found

    def resolve(self, job: SlurmJob, copies: list[PlacePair]) -> list[PlacePair]:
        """Return ``copies`` as places of the service. Raises Refused."""
        return [
            (self._resolved(job, source), self._resolved(job, dest))
            for source, dest in copies
        ]

    def _resolved(self, job: SlurmJob, word: str) -> str:
        """Return ``flash://job.7/out`` for ``job://out``."""
        space, _, path = word.partition("://")
        if space == "job":
            if not job.folder:
                raise Refused("bad-place", f"{word}: the job has no jobbb line")
            return f"{job.pool}://{job.folder}/{path}"
        if space == "bb":
            name, _, below = path.partition("/")
            buffer = self.buffers.readable(name, job.uid, job.buffers)
            return f"{buffer.pool}://{name}/{below}"
        return in_dataspace(word, self.spaces)

    def path(self, job: SlurmJob) -> str:
        """Return the path of the job's own buffer; else of its folder on each of its
        nodes, or of the first buffer that it uses."""
        if job.folder:
            return os.path.join(self.pools.pool(job.pool).path, job.folder)
        used = self.buffers.get(job.buffers[0]) if job.buffers else None
        if used is None or self.nodes.of(job):
            return self.nodes.path(job)
        return used.path

    def has_results(self, job: SlurmJob) -> bool:
        """Tell whether what was to be staged out can still be there: on nodes, or in a
        buffer, which may be one that outlives the job."""
        sources = [source for source, _ in job.directives.stage_out]
        in_buffers = not all(map(is_on_node, sources))
        return in_buffers or bool(sources and self.nodes.of(job))

    def end(self, job: SlurmJob) -> None:
        """Stop the copies of ``job``, and remove its own buffer and its folders on
        nodes with all that is in them; it uses no other buffer any more. Then forget
        the job. Raises OSError."""
        self.nodes.cancel(job)
        job.buffers = []
        self.buffers.resume()
        self.nodes.give_back(job)
        if job.folder:
            pool = self.pools.pool(job.pool)
            self.trash.drop(pool, job.folder, lambda: None, job.size)
        self.files.remove(job)

    def _grant(self, job: SlurmJob, capacity: int) -> bool:
        pool = self.pools.pool(job.directives.pool)
        if not job.folder:
            size = self.pools.rounded(pool, capacity)
            if size > self.pools.free_for(pool, job.uid):
                return False
            folder = _free_folder(job.number, pool.path)
            # Before the folder: a crash must not lose it.
            self.files.save(job, folder=folder, pool=pool.name, size=size)
        make_folder(pool, job.folder, job.uid, job.gid)
        return True


def in_dataspace(word: str, spaces: Dataspaces) -> str:
    """Return the place of an absolute path, or ``word`` where it is one already. Raises
    Refused."""
    return word if "://" in word else place_of(word, as_roots(spaces))


def _free_folder(number: int, pool: str) -> str:
    """A name of its own, where an earlier life of the job is kept, too."""
    name = f"job.{number}"
    life = 1
    while os.path.lexists(os.path.join(pool, name)):
        life += 1
        name = f"job.{number}.{life}"
    return name
