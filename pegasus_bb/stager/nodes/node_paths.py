"""Places of a job as the services of its nodes know them."""

from __future__ import annotations

from collections.abc import Sequence

from pegasus_bb.runtime.stager_client.dataspace import Dataspaces
from pegasus_bb.runtime.stager_client.protocol import Refused
from pegasus_bb.stager.slurm.directives import is_on_node


def as_paths(spaces: Dataspaces, places: Sequence[tuple[str, str]]) -> list[list[str]]:
    """Absolute paths, for the dataspaces of a node may have other names; ``node://``
    stays as it is. Raises Refused."""
    return [[_path_of(spaces, a), _path_of(spaces, b)] for a, b in places]


def _path_of(spaces: Dataspaces, place: str) -> str:
    name, _, path = place.partition("://")
    if is_on_node(place):
        return place
    if name not in spaces:
        raise Refused("bad-place", f"{place}: no dataspace {name}")
    return f"{spaces[name].root}/{path}"
