"""Compares files that were brought in with the checksums that a catalog declares."""

from __future__ import annotations

from pegasus_bb.runtime.staging.failures import CopyFailed, on_a_line
from pegasus_bb.runtime.staging.onefile import digest_file


def check_digest(source: str, path: str, declared: str, digest: str = "") -> None:
    """Raises CopyFailed if the file ``path``, from ``source``, has not the ``declared``
    digest. ``digest``: its own, if that is known. Raises OSError."""
    if not declared:
        return
    kind = declared.partition(":")[0]
    if digest.partition(":")[0] != kind:  # unknown, or of its blocks with data alone
        digest = digest_file(path, like=declared)
    if digest != declared:
        raise CopyFailed(
            f"{on_a_line(source)}: has the digest {digest}, but the catalog declares "
            f"{declared}: the file was changed or damaged. Bring the right file there, "
            "or correct its checksum in the catalog (sha256sum FILE) and plan again; "
            "pegasus.integrity.checking = none plans without checks"
        )
