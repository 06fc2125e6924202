"""Places of directives as places of the service: ``job://out`` -> ``flash://job.7/out``."""

from __future__ import annotations

from typing import Callable

from pegasus_bb.runtime.stager_client.dataspace import Dataspaces, as_roots, place_of
from pegasus_bb.runtime.stager_client.protocol import Refused
from pegasus_bb.stager.slurm.buffers import Record


class PlaceResolver:
    """For one job. ``job``: the place of its own buffer, ``flash://job.7``, or
    empty. ``buffer``: the persistent buffer of a name; raises Refused."""

    def __init__(
        self, spaces: Dataspaces, job: str, buffer: Callable[[str], Record]
    ) -> None:
        self._spaces, self._job, self._buffer = spaces, job, buffer

    def resolve(self, word: str) -> str:
        """The place of ``word``. Raises Refused."""
        space, found, path = word.partition("://")
        if not found:
            return place_of(word, as_roots(self._spaces))
        if space == "job":
            if not self._job:
                raise Refused("bad-place", f"{word}: the job has no jobbb line")
            return f"{self._job}/{path}"
        if space == "bb":
            name, _, below = path.partition("/")
            record = self._buffer(name)
            return f"{record['pool']}://{name}/{below}"
        return word
