from __future__ import annotations

from pathlib import Path

import pytest

from tests.run.check.site import Site


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Site:
    return Site(tmp_path, monkeypatch)
