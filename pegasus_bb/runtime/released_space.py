"""After a release, tells the tier's staging service that space is free.

It may tell the flash so (stager/discard.py). The release is over by then: what fails
here is a line on stderr.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator

from pegasus_bb.core.errors import PegasusBBError
from pegasus_bb.model.reservation import SLURM_LUA, Request


def tell_freed(request: Request) -> None:
    """Ask for a discard of each dataspace in which ``request`` had a folder."""
    sockets = request.settings.get("service", "")
    if not sockets or request.backend == SLURM_LUA:  # whose service has removed it
        return
    from pegasus_bb.runtime.stager_client.client import (
        Client,  # most tiers have no service
    )
    from pegasus_bb.runtime.stager_client.dataspace import url_of

    try:
        with Client(sockets) as client:
            roots = client.ask("ping")["roots"]
            places = (url_of(folder, roots) for folder in _folders(request))
            for space in sorted({place.partition("://")[0] for place in places} - {""}):
                client.ask("discard", space=space)
    except (PegasusBBError, OSError) as error:
        message = f"the staging service was not told of free space: {error}"
        print(f"delete: {message}", file=sys.stderr, flush=True)


def _folders(request: Request) -> Iterator[str]:
    """Its own one, and those in pools, which may lie on other flash."""
    root = os.path.realpath(request.settings.get("path", "/"))
    for pool in ("", *request.settings.get("pools", "").split()):
        yield os.path.join(os.path.realpath(os.path.join(root, pool)), request.name)
