from __future__ import annotations

from tests.placement.conftest import world

__all__ = ["world"]
