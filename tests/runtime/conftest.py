"""A site in a temporary folder, and a run with its programs."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.run_programs import Run
from tests.support.run_site import Site


@pytest.fixture
def site(tmp_path: Path) -> Site:
    return Site(tmp_path)


@pytest.fixture
def site_without_reservation(tmp_path: Path) -> Site:
    return Site(tmp_path, reserved=False)


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    monkeypatch.setenv("PEGASUS_BB_LEDGER", str(tmp_path / "ledger.jsonl"))
    return Run(tmp_path)


@pytest.fixture
def given(site: Site) -> Path:
    path = site.pfs / "in.txt"
    path.write_text("input data")
    return path
