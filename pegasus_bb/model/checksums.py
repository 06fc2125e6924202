"""Checksums that a catalog declares of its files."""

from __future__ import annotations

import re

from pegasus_bb.model.document import Entry

_SHA256 = re.compile("[0-9a-fA-F]{64}")


def read_checksum(entry: Entry) -> str:
    """The ``checksum`` of a file, as sha256:...; empty if there is none. Raises
    CatalogError."""
    declared = entry.mapping("checksum")
    if not declared:
        return ""
    kind, value = next(iter(declared.items()))
    if (
        len(declared) > 1
        or str(kind).lower() != "sha256"
        or not _SHA256.fullmatch(str(value))
    ):
        raise entry.below("checksum").error(
            "a checksum is of the kind sha256, with 64 hexadecimal digits",
            declared,
            "checksum: {sha256: ...}, which `sha256sum FILE` prints",
        )
    return f"sha256:{str(value).lower()}"
