from __future__ import annotations

from tests.placement.conftest import user
from tests.report.conftest import recorded

__all__ = ["recorded", "user"]
