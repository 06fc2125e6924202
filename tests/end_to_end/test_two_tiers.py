"""Two tiers of one site in one run: a buffer for files that jobs share, and a disk of
each node for the files of a single job."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.support.user_site import Site


@pytest.fixture(autouse=True)
def disk(site: Site) -> Path:
    """The second tier; the first is the folder ``fast``."""
    folder = site.root / "nvme"
    folder.mkdir()
    site.declare(granularity="1KiB")
    sites = site.document("sites.yml")
    nvme = {"name": "nvme", "backend": "node-local", "path": str(folder)}
    sites["x-storage-tiers"]["cluster"].append({**nvme, "mount": "any"})
    site.save("sites.yml", sites)
    return folder


def test_auto_knows_that_one_mode_alone_has_the_room_that_was_said(site: Site) -> None:
    slow, fast = ({"read": f"{n}B/s", "write": f"{n}B/s"} for n in ("50", "1G"))
    sites = site.document("sites.yml")
    sites["x-storage-speeds"] = {"cluster": {"pfs": slow, "bb": fast, "nvme": fast}}
    site.save("sites.yml", sites)
    (site.work / "places.yml").write_text("- {lfn: e.dat, tier: nvme}\n")
    words = ("--bb-mode", "auto", "--bb-placement", "places.yml")
    done = site.plan("bb", *words)
    assert done.returncode == 0, done.stderr
    for mode in ("persistent", "transient"):
        assert (
            f"{mode} cannot be chosen: bb.tier puts e.dat on a tier of job reservations"
            in (done.stderr)
        )
    assert "preferred: hybrid: " in done.stderr
    transient = json.loads((site.submit_dir("bb") / "bb/transient.json").read_text())
    assert (site.request("bb")["tier"], transient["tier"]) == ("bb", "nvme")
