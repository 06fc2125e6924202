"""Jobs of two users of a site's service: each has only his own."""

from __future__ import annotations

import os
import stat
import subprocess
from pathlib import Path

import pytest

from tests.stager.lives import CAPABLE, LIVES, NAME, capable, user
from tests.support.as_root import as_root
from tests.support.slurm_job import OWN, Job
from tests.support.slurm_stager import SUCCESS, SlurmSite
from tests.support.stager import open_to_all
from tests.support.waiting import until, until_gone

pytestmark = as_root
# bob has a name: share wants one
ANN = 61001
BOB = 2
BOBS_NAME = "bin"


@pytest.fixture
def away(tmp_path: Path, life: str) -> SlurmSite:
    """As root, or as SlurmUser."""
    site = SlurmSite(tmp_path)
    if life == CAPABLE:
        site.config["slurm"]["user"], site.before = NAME, capable()
        os.chown(site.bb, user(), -1)
    return site


@pytest.fixture
def open_site(site: SlurmSite) -> SlurmSite:
    """Every user can walk to the folders of the test."""
    open_to_all(site.folder)
    for uid in (ANN, BOB):
        home = site.lustre / str(uid)
        home.mkdir()
        os.chown(home, uid, uid)
        home.chmod(0o700)
    return site


def can_read(uid: int, path: Path) -> bool:
    argv = ["cat", str(path)]
    done = subprocess.run(argv, user=uid, group=uid, extra_groups=[], check=False)
    return done.returncode == 0


@pytest.mark.parametrize("life", LIVES)
def test_all_that_is_made_is_the_users_own(open_site: SlurmSite) -> None:
    secret = open_site.file(f"{ANN}/in", "ann's", uid=ANN)
    secret.chmod(0o600)
    copies = (f"stage_in lustre://{ANN}/in job://in", f"stage_out job://in {secret}.2")
    job = Job(open_site, OWN, *copies, uid=ANN)
    own = job.compute()
    assert (own.stat().st_uid, stat.S_IMODE(own.stat().st_mode)) == (ANN, 0o700)
    assert (own / "in").stat().st_uid == ANN
    assert can_read(ANN, own / "in") and not can_read(BOB, own / "in")
    job.stage_out()
    assert (open_site.lustre / f"{ANN}/in.2").stat().st_uid == ANN


def test_a_job_copies_nothing_out_of_another_jobs_buffer(open_site: SlurmSite) -> None:
    """Nor anything else of another user."""
    open_site.file(f"{ANN}/in", "ann's", uid=ANN).chmod(0o600)
    job = Job(open_site, OWN, f"stage_in lustre://{ANN}/in job://in", uid=ANN)
    own = job.compute()
    for place in (f"lustre://{ANN}/in", f"flash://{own.name}/in", f"{own}/in"):
        thief = Job(open_site, OWN, f"stage_in {place} job://in", uid=BOB)
        words = thief.fail()
        assert "Permission denied" in words


@pytest.mark.parametrize("life", LIVES)
def test_a_shared_buffer_can_be_read_until_it_is_unshared(open_site: SlurmSite) -> None:
    open_site.file(f"{ANN}/in", "ann's", uid=ANN).chmod(0o644)
    made = open_site.ask("create", "name=data", "capacity=1MiB", "uuid=u1", uid=ANN)
    buffer = Path(made["ok"]["buffer"]["path"])
    share = ("share", "name=data", f"user={BOBS_NAME}")
    assert open_site.ask(*share, uid=BOB)["error"]["code"] == "not-yours"
    shared = open_site.ask(*share, uid=ANN)
    if shared.get("error", {}).get("code") == "no-acl":
        pytest.skip("this file system has no access control lists")
    assert shared["ok"]["buffer"]["readers"] == [BOB]
    copy = f"stage_in lustre://{ANN}/in bb://data/sub/in"
    Job(open_site, "persist use data", copy, uid=ANN).stage_in()
    assert can_read(BOB, buffer / "sub/in") and not can_read(61003, buffer / "sub/in")
    copies = ("persist use data", f"stage_out bb://data/sub/in lustre://{BOB}/copy")
    reader = Job(open_site, *copies, uid=BOB)
    reader.stage_in()
    assert reader.run() == {"BB_PERSISTENT_data": str(buffer)}
    reader.stage_out()
    assert (open_site.lustre / f"{BOB}/copy").read_text() == "ann's"
    assert (
        open_site.ask("unshare", *share[1:], uid=ANN)["ok"]["buffer"]["readers"] == []
    )
    assert not can_read(BOB, buffer / "sub/in")
    Job(open_site, "persist use data", uid=BOB).fail()


def test_a_buffer_is_shared_by_a_job_that_succeeds(open_site: SlurmSite) -> None:
    lines = ("persist store data size=1MiB", f"persist share data {BOBS_NAME}")
    job = Job(open_site, *lines, uid=ANN)
    job.stage_in()
    job.run()
    job.end()
    until(lambda: not job.is_busy("out"))
    code, words = job.is_staged("out")
    if "no access control lists" in words:
        pytest.skip("this file system has no access control lists")
    assert code == SUCCESS
    buffer = open_site.ask("status", "name=data")["ok"]["buffer"]
    assert (buffer["uid"], buffer["readers"]) == (ANN, [BOB])


def with_result(site: SlurmSite, uid: int, in_the_way: bool) -> tuple[Job, Path]:
    """A job of ``uid`` that runs, and its result."""
    out = site.lustre / str(uid) / "out"
    if in_the_way:
        (out / "some").mkdir(parents=True)
    job = Job(site, OWN, f"stage_out job://out {out}", uid=uid)
    result = job.compute(f"of {uid}") / "out"
    os.chown(result, uid, uid)
    return job, result


def test_a_number_that_comes_again_gives_no_rights_of_its_first_user(
    open_site: SlurmSite,
) -> None:
    """Slurm has forgotten ann's job, and bob's gets its number."""
    open_site.file(f"{ANN}/secret", "ann's", uid=ANN).chmod(0o600)
    first, result = with_result(open_site, ANN, in_the_way=True)
    thief = Job(open_site, OWN, f"stage_in lustre://{ANN}/secret job://in", uid=BOB)
    thief.id = first.id
    words = thief.fail()
    assert "Permission denied" in words
    thief.tear_down()
    [row] = open_site.rows_of("kept", uid=ANN)
    assert (row["uid"], row["path"]) == (ANN, str(result.parent))
    assert open_site.rows_of("kept", uid=BOB) == []
    assert result.read_text() == f"of {ANN}"


def test_a_number_that_comes_again_saves_the_results_of_the_first_job(
    open_site: SlurmSite,
) -> None:
    first, result = with_result(open_site, ANN, in_the_way=False)
    second = Job(open_site, OWN, uid=BOB)
    second.id = first.id
    second.stage_in()
    until_gone(result)
    saved = open_site.lustre / str(ANN) / "out"
    assert (saved.read_text(), saved.stat().st_uid) == (f"of {ANN}", ANN)
    assert second.runs_in().stat().st_uid == BOB
