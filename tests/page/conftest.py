from __future__ import annotations

from tests.placement.conftest import world
from tests.report.conftest import recorded

__all__ = ["recorded", "world"]
