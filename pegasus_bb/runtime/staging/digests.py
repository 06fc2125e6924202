"""Kinds of digests. Their text begins with the name: sha256:...

Manifests have SHA-256, which every Python can compute. `pegasus-bb stage` may use a
faster one for large files. A file with huge holes has a digest of its blocks with data
(hashing.py): sha256-blocks:...
"""

from __future__ import annotations

from collections.abc import Callable

from pegasus_bb.core.light_typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from typing import Any

_BLOCKS = "-blocks"


class Digest(NamedTuple):
    """A kind of digest; ``new`` makes an object with ``update`` and ``hexdigest``."""

    name: str
    new: Callable[[], Any]

    def text(self, hasher: Any, *, by_blocks: bool = False) -> str:
        return f"{self.name}{_BLOCKS if by_blocks else ''}:{hasher.hexdigest()}"


def is_by_blocks(text: str) -> bool:
    """Whether a digest is of the blocks with data, as of files with huge holes."""
    return text.partition(":")[0].endswith(_BLOCKS)


def _new_sha256() -> Any:
    import hashlib  # not at the top: many jobs compute no digest

    return hashlib.sha256()


SHA256 = Digest("sha256", _new_sha256)
