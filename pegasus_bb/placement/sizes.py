"""How large is a file? Declared, else in the replica catalog, else on disk.

None where nobody knows: an unknown size is reported, never taken for zero.
"""

from __future__ import annotations

from pathlib import Path

from pegasus_bb.errors import CatalogError
from pegasus_bb.model.replicas import ReplicaCatalog, local_path
from pegasus_bb.placement.survey import INPUT, File


def size_of(file: File, replicas: ReplicaCatalog, site: str) -> int | None:
    """Bytes of ``file``, or None. Looks at the disk for inputs and programs only."""
    if file.size is not None or file.role != INPUT:
        return file.size
    if file.executable:
        return _on_disk(file.executable)
    known = replicas.replicas.get(file.lfn, ())
    for replica in known:
        if replica.size is not None:
            return replica.size
    for replica in known:
        if replica.site in ("local", site):
            size = _on_disk(replica.pfn)
            if size is not None:
                return size
    return None


def looked_at(lfn: str, replicas: ReplicaCatalog, site: str) -> list[str]:
    """The PFNs at which a size that nobody says was looked for."""
    known = replicas.replicas.get(lfn, ())
    return [replica.pfn for replica in known if replica.site in ("local", site)]


def _on_disk(pfn: str) -> int | None:
    try:
        path = local_path(pfn)
        return Path(path).stat().st_size if path and Path(path).is_file() else None
    except (OSError, ValueError, CatalogError):
        return None  # not on this machine: as good as unknown
