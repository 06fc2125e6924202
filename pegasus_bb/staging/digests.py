"""What digests are made with. The name goes before the digest: sha256:...

Manifests have SHA-256, which every Python can read again. A copy by hand may use a
faster one for what takes long to hash.
"""

from __future__ import annotations

from typing import Any, Callable, NamedTuple


class Digest(NamedTuple):
    """A kind of digest; ``new`` makes what has ``update`` and ``hexdigest``."""

    name: str
    new: Callable[[], Any]

    def words(self, hasher: Any) -> str:
        return f"{self.name}:{hasher.hexdigest()}"


def _new_sha256() -> Any:
    import hashlib  # not at the top: many jobs hash nothing

    return hashlib.sha256()


SHA256 = Digest("sha256", _new_sha256)
