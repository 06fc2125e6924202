"""Places of directives as places of the service: ``job://out`` -> ``flash://job.7/out``."""

from __future__ import annotations

import os
from typing import Callable

from pegasus_bb.service.dataspace import Dataspaces
from pegasus_bb.service.protocol import Refused
from pegasus_bb.service.slurm.buffers import Record


class Places:
    """Those of one job. ``job``: the place of its own buffer, ``flash://job.7``, or
    empty. ``buffer``: the persistent buffer of a name; raises Refused."""

    def __init__(
        self, spaces: Dataspaces, job: str, buffer: Callable[[str], Record]
    ) -> None:
        self._spaces, self._job, self._buffer = spaces, job, buffer

    def url(self, word: str) -> str:
        """Raises Refused."""
        space, found, path = word.partition("://")
        if not found:
            return self._of_path(word)
        if space == "job":
            if not self._job:
                raise Refused("bad-place", f"{word}: the job has no jobbb line")
            return f"{self._job}/{path}"
        if space == "bb":
            name, _, below = path.partition("/")
            record = self._buffer(name)
            return f"{record['pool']}://{name}/{below}"
        return word

    def _of_path(self, path: str) -> str:
        """In the dataspace whose root is the longest one that ``path`` lies below."""
        clean = os.path.normpath(path)
        roots = [
            (space.root.rstrip("/"), name)
            for name, space in self._spaces.items()
            if clean.startswith(space.root.rstrip("/") + "/")
        ]
        if not roots:
            known = ", ".join(sorted(s.root for s in self._spaces.values()))
            raise Refused("bad-place", f"{path} is below none of {known}")
        root, name = max(roots)
        return f"{name}://{clean[len(root) + 1 :]}"
