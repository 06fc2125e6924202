"""Two runs that were given one --relative-dir: neither removes the other's files."""

from __future__ import annotations

import pytest

from tests.support.user_site import Site, expected

SHARED = ("--bb-mode", "off", "--relative-dir", "shared")


@pytest.mark.parametrize(
    "cleanup", ["inplace", pytest.param("leaf", marks=pytest.mark.sweep)]
)
def test_a_run_that_failed_finds_its_files_after_another_has_cleaned_up(
    site: Site, cleanup: str
) -> None:
    for run in ("one", "two"):
        site.planned(run, *SHARED, "--cleanup", cleanup)
    site.trouble.write_text("e.dat")
    site.fails("one")
    site.trouble.unlink()
    assert site.run("two").returncode == 0
    assert (site.root / "pfs" / "shared" / "d.dat").exists()
    assert site.run("one").returncode == 0
    assert site.content("one") == site.content("two") == expected()
    assert (site.root / "pfs" / "shared").exists(), "it may belong to another run"
