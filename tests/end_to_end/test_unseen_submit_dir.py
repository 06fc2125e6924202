"""A pool whose nodes see the tier, and not the submit directory."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.end_to_end.test_clusters import END, MIDDLE, clustered, records
from tests.support.unseen_folder import python_of_nodes, what_is_missing
from tests.support.user_site import Site, expected

PERSISTENT = ("--bb-mode", "persistent", "--bb-poll", "1s")


@pytest.fixture
def pool(site: Site) -> Site:
    if why := what_is_missing():
        pytest.skip(why)
    site.declare(submit_dir="local")
    return site


def on_nodes(pool: Site) -> tuple[str, ...]:
    return (*PERSISTENT, "--bb-python", str(python_of_nodes(pool.root)))


def note_what_tasks_see(pool: Site) -> Path:
    """Let each task note what it finds in its submit directory."""
    seen = pool.root / "seen"
    task = pool.root / "mix.py"
    folder = str(pool.submit_dir("bb"))
    line = f"print(os.listdir({folder!r}), file=open({str(seen)!r}, 'a'))"
    task.write_text(task.read_text().replace("time.sleep(0.02)", line))
    return seen


def test_jobs_bring_what_they_need_and_their_records_come_back(pool: Site) -> None:
    """In private folders, too: the next tests."""
    seen = note_what_tasks_see(pool)
    pool.planned("bb", *on_nodes(pool))
    pool.finishes("bb")
    assert set(seen.read_text().split()) == {"[]"}
    assert {one["mainjob"]["status"]["raw"] for one in pool.tasks("bb").values()} == {0}
    assert pool.reservations() == []


def test_the_tasks_of_a_cluster_travel_together(pool: Site) -> None:
    pool.configure("condorio")
    folder = clustered(pool, *on_nodes(pool))
    pool.finishes("run")
    for node, tasks in ((MIDDLE, ["B", "C"]), (END, ["D", "E"])):
        assert [one["derivation"] for one in records(folder, node)] == tasks


def test_a_failed_task_leaves_its_message_and_an_input_that_is_lost_is_found(
    pool: Site,
) -> None:
    pool.configure("condorio")
    pool.planned("bb", *on_nodes(pool), "--cleanup", "none")
    pool.trouble.write_text("d.dat")
    pool.fails("bb")
    failed = pool.tasks("bb")["D"]["files"]["stderr"]["data"]
    assert "the disk on my desk is full" in failed
    [lost] = pool.tier_path.glob("*/**/b.dat")
    lost.unlink()
    pool.trouble.unlink()
    said = pool.run("bb").stderr
    assert "b.dat" in said
    assert "--remake" in said
    again = ("run", "--remake", str(pool.submit_dir("bb")))
    pool.bb(*again, check=True)
    assert pool.content("bb") == expected()


REFUSED = [
    (("--bb-mode", "transient"), "in mode transient jobs work with files and notes"),
    (("--bb-mode", "hybrid"), "in mode hybrid jobs work with files and notes"),
    ((*PERSISTENT, "--bb-fallback", "pfs"), "fix:      leave --bb-fallback out, --dir"),
    ((*PERSISTENT, "--bb-darshan", "auto"), "Darshan writes its logs to the submit"),
    (("--bb-mode", "off"), "in mode off the jobs of the built-in planner work beside"),
    (
        (*PERSISTENT, "-Dpegasus.transfer.*.remote.sites=cluster"),
        "transfers run on the submit host: nodes do not see its files",
    ),
]


@pytest.mark.parametrize(("options", "says"), REFUSED)
def test_what_needs_the_submit_directory_is_refused(
    site: Site, options: tuple[str, ...], says: str
) -> None:
    site.declare(submit_dir="local")
    done = site.plan("bb", *options)
    assert (done.returncode, says in done.stderr) == (2, True), done.stderr
    assert not (site.root / "submit").exists()


def test_blahp_hands_no_files_over_but_the_tier_has_room(site: Site) -> None:
    site.declare(submit_dir="local")
    with site.edited("sites.yml") as sites:
        condor = {"grid_resource": "batch slurm"}
        profiles = {"pegasus": {"style": "glite"}, "condor": condor}
        sites["sites"][1]["profiles"] = profiles
    said = site.refuses("bb", *PERSISTENT)
    on_it = site.tier_path / "submit"
    assert f"--dir {on_it}" in said
    site.planned("bb", *PERSISTENT, "--dir", str(on_it))
    job = (on_it / "bb/00/00/mix_A.sub").read_text()
    assert "transfer_executable = false" in job
    for transfers in on_it.glob("bb/00/00/stage_*.sub"):
        assert "universe = local" in transfers.read_text()


def test_a_folder_that_only_the_submit_host_has_takes_no_files(site: Site) -> None:
    site.configure("condorio")
    with site.edited("sites.yml") as sites:
        del sites["sites"][1]["directories"]
    site.declare(submit_dir="local", outputs="pfs")
    said = site.refuses("bb", *PERSISTENT)
    assert "d.dat is to live on the PFS" in said
    assert "the key scratch of tier bb" in said
    site.declare(scratch=str(site.root / "pfs"))
    site.planned("bb", *PERSISTENT)


@pytest.mark.parametrize(
    ("submit_dir", "says"),
    [("local", "need not see the submit directory"), (None, "assumed; if they do not")],
)
def test_plan_and_check_say_what_nodes_see(
    site: Site, submit_dir: str | None, says: str
) -> None:
    site.configure("condorio")
    if submit_dir:
        site.declare(submit_dir=submit_dir)
    checked = site.bb("check", "--sites", "cluster", *PERSISTENT, "workflow.yml")
    for said in (site.plan("bb", *PERSISTENT).stderr, checked.stdout + checked.stderr):
        assert says in said
