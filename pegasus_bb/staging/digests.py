"""Kinds of digests. Their text begins with the name: sha256:...

Manifests have SHA-256, which every Python can compute. `pegasus-bb stage` may use a
faster one for large files.
"""

from __future__ import annotations

from typing import Any, Callable, NamedTuple


class Digest(NamedTuple):
    """A kind of digest; ``new`` makes an object with ``update`` and ``hexdigest``."""

    name: str
    new: Callable[[], Any]

    def text(self, hasher: Any) -> str:
        return f"{self.name}:{hasher.hexdigest()}"


def _new_sha256() -> Any:
    import hashlib  # not at the top: many jobs compute no digest

    return hashlib.sha256()


SHA256 = Digest("sha256", _new_sha256)
