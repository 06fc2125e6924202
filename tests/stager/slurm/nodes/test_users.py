"""Nodes copy with the rights of the job's user. Needs root."""

from __future__ import annotations

import os
import stat

import pytest

from tests.support.as_root import as_root
from tests.support.slurm_stager import SUCCESS
from tests.support.stager import open_to_all

from .conftest import Node, NodeJob, NodeSite

pytestmark = as_root
ANN = 61001
BOB = 61002


@pytest.fixture(autouse=True)
def _homes(site: NodeSite) -> None:
    open_to_all(site.folder)
    for uid in (ANN, BOB):
        home = site.lustre / str(uid)
        home.mkdir(mode=0o700)
        os.chown(home, uid, uid)


def test_all_that_is_made_is_the_users_own(site: NodeSite, n1: Node, n2: Node) -> None:
    site.file(f"{ANN}/in", "ann's", uid=ANN).chmod(0o600)
    home = f"lustre://{ANN}"
    copies = (f"stage_in {home}/in node://in", f"stage_out node://in {home}/out")
    job = NodeJob(site, *copies, uid=ANN, nodes="n1,n2")
    assert job.start() == (SUCCESS, "")
    for node in (n1, n2):
        [folder] = node.folders
        assert (folder.stat().st_uid, stat.S_IMODE(folder.stat().st_mode)) == (
            ANN,
            0o700,
        )
        assert (folder / "in").stat().st_uid == ANN
    job.stage_out()
    assert (site.lustre / f"{ANN}/out").stat().st_uid == ANN


def test_a_link_out_of_the_folder_is_not_followed(
    site: NodeSite, n1: Node, n2: Node
) -> None:
    secret = site.file("secret", "root's")
    secret.chmod(0o600)
    out = f"stage_out node://out/secret lustre://{BOB}/out"
    job = NodeJob(site, out, uid=BOB, nodes="n[1-2]")
    assert job.start() == (SUCCESS, "")
    for node in (n1, n2):
        (node.folders[0] / "out").symlink_to(site.lustre)
    job.fail_to_save()
    assert not (site.lustre / str(BOB) / "out").exists()
