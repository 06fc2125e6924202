"""What `pegasus-bb check` says of the disks of nodes, with Slurm's recorded answers."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from pegasus_bb.model.finding import Finding, Level
from pegasus_bb.run.check.node_disks import Gres, read_gres
from tests.run.check.site import RECORDED, Site

POOL_DISKS = RECORDED.parent / "htcondor-23.9" / "pool-disks.txt"
GRES = RECORDED / "sinfo-gres.txt"  # of nodes that differ


@pytest.fixture
def disks(site: Site) -> Site:
    """Nodes with a disk, which jobs ask Slurm for."""
    site.glite()
    site.sizes()
    (site.root / "nvme").mkdir()
    path = str(site.root / "nvme")
    site.tier(backend="node-local", path=path, request="--gres=nvme:{mb}")
    site.tool("sinfo", f"cat {GRES}")
    return site


def about(site: Site, topic: str) -> list[Finding]:
    return [found for found in site.check(mode="transient") if found.about == topic]


def test_a_gres_that_nodes_have_is_told_with_the_most_of_it(disks: Site) -> None:
    (found,) = about(disks, "slurm")
    wanted = r"nodes have the gres nvme, 60 of it at most; a job asks for \d+ at most"
    assert found.level is Level.OK and re.fullmatch(wanted, found.what)


def test_in_mode_hybrid_it_is_what_the_largest_job_asks_for(disks: Site) -> None:
    with disks.edited("sites.yml") as sites:
        tiers = sites["x-storage-tiers"]["cori"]
        path = str(disks.root / "fast")
        tiers.insert(0, {"name": "fast", "backend": "directory", "path": path})
    with disks.edited("workflow.yml") as workflow:
        for use in (use for job in workflow["jobs"] for use in job["uses"]):
            use["metadata"] |= {"size": 20 << 20} if use["lfn"] == "out.txt" else {}
    said = disks.check(mode="hybrid", tier="fast", **{"job.tier": "bb"})
    (found,) = [row for row in said if row.about == "slurm"]
    assert found.what.endswith("; a job asks for 26 at most")


@pytest.mark.parametrize(
    ("request_", "what"),
    [
        ("--gres=ssd:{gb}", "no node has the gres ssd, which tier bb asks for"),
        ("-C x --gres=gpu:h100:1", "no node has the gres gpu:h100"),
        ("--gres=nvme:{kib}", r"ID1 asks for \d+ of the gres nvme, and no node has"),
    ],
)
def test_what_slurm_would_refuse_is_wrong(
    disks: Site, request_: str, what: str
) -> None:
    disks.tier(backend="node-local", request=request_, path=str(disks.root / "nvme"))
    (found,) = about(disks, "slurm")
    assert found.level is Level.WRONG and re.match(what, found.what), found
    assert (
        "gpu:a100, lscratch, nvme" in found.would_do or "bb.tier: pfs" in found.would_do
    )


def test_what_no_slot_of_a_pool_has_room_for_is_wrong(site: Site) -> None:
    site.sizes()
    site.condor()
    tier = {"backend": "node-local", "path": "/nvme", "request": "request_disk={kib}"}
    site.tier(**tier)
    assert about(site, "pool") == []  # it does not tell
    site.tool("condor_status", f"cat {POOL_DISKS}")
    (found,) = about(site, "pool")
    has = "slots of the pool have 57.4 MiB of disk at most"
    assert (found.level, found.what.partition(";")[0]) == (Level.OK, has)
    site.tier(**tier, capacity="100MiB")
    (found,) = about(site, "pool")
    assert found.level is Level.WRONG and "asks for 100.0 MiB: it would" in found.what


def test_nothing_is_told_where_nothing_can_be_asked(disks: Site) -> None:
    disks.tool("sinfo", "echo 'Unable to contact slurm controller' >&2; exit 1")
    (found,) = about(disks, "slurm")
    assert (found.level, found.would_do) == (Level.NOTE, "")
    assert "Unable to contact slurm controller" in found.what
    (disks.bin / "sinfo").unlink()
    assert about(disks, "slurm") == []


def test_a_folder_that_is_memory_here_is_told(disks: Site) -> None:
    disks.tool("stat", "echo tmpfs")
    (found,) = about(disks, "tier")
    assert found.what.endswith("on this machine it is memory (tmpfs)")
    assert "request: memory+={mb}" in found.would_do
    disks.tool("stat", "echo ext2/ext3")
    (found,) = about(disks, "tier")
    assert "is looked at on each node, when a job starts there" in found.what


def test_a_disk_that_no_job_could_use_here_is_told(disks: Site) -> None:
    """Without HTCondor each job runs here, and the folder is on the root's disk."""
    disks.tool("stat", "echo ext2/ext3")
    (found,) = about(disks, "tier")
    assert found.level is Level.NOTE
    same = (disks.root / "nvme").stat().st_dev == Path("/").stat().st_dev
    assert ("here it would fail" in found.what) is same


def test_slurms_words_for_gres_are_read() -> None:
    assert read_gres("(null)\n") == []
    text = "gpu:a100:4(S:0-1),lscratch:2T\nbandwidth:no_consume:4G\nnvme"
    assert read_gres(text) == [
        Gres("gpu:a100", 4),
        Gres("lscratch", 2 << 40),
        Gres("bandwidth", 4 << 30),
        Gres("nvme", 1),
    ]
