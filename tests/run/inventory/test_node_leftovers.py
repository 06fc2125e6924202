"""pegasus-bb gc --nodes: what killed jobs have left on the disk of this node."""

from __future__ import annotations

import fcntl
import json
import os
import signal
import socket
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from pegasus_bb.cli.gc import command
from pegasus_bb.core.errors import UsageError
from pegasus_bb.run.inventory import node_leftovers
from pegasus_bb.runtime.job_reservation.cache_folder import cache_path
from pegasus_bb.runtime.job_reservation.disk import on_the_disk
from pegasus_bb.runtime.job_reservation.space import SharedInputs
from tests.support.user_site import Site, kill
from tests.support.waiting import until

HOST = socket.gethostname()


@pytest.fixture
def site(tmp_path: Path) -> Site:
    return Site(tmp_path)


@pytest.fixture
def disk(site: Site) -> Path:
    return site.has_disks(mount="any")


@pytest.fixture
def run(site: Site, disk: Path) -> Path:
    return site.planned("run", "--bb-mode", "transient")


def gc(run: Path, *options: str) -> Result:
    words = ["--nodes", str(run), *options]
    return CliRunner().invoke(command, words, catch_exceptions=False)


def killed_job(disk: Path, name: str) -> Path:
    """The folder that a job leaves which is killed while its task works."""
    pid = os.fork()
    if not pid:
        settings = {"path": str(disk), "mount": "any"}
        with on_the_disk(settings, name, 0, {}, SharedInputs()) as folder:
            Path(folder, "half").write_bytes(b"x" * 8192)
            os.kill(os.getpid(), signal.SIGKILL)
    assert os.waitpid(pid, 0)[1] == signal.SIGKILL
    return disk / f"pegasus_bb.{HOST}.{name}"


def cached_input(disk: Path) -> Path:
    entry = Path(cache_path(str(disk)), "0a1b.8192")
    entry.parent.mkdir(mode=0o700)
    entry.mkdir()
    (entry / "in.txt").write_bytes(b"x" * 8192)
    return entry


def test_the_folder_of_a_killed_job_goes_with_yes_and_not_before(
    disk: Path, run: Path
) -> None:
    left = killed_job(disk, "work.1")
    shown = gc(run).output
    assert f"WOULD GO    {left} (" in shown
    assert ": the folder of a killed job\n" in shown
    assert "1 would be removed, 0 would be kept; --yes does it\n" in shown
    assert left.is_dir()
    assert f"REMOVED     {left} (" in gc(run, "--yes").output
    assert list(disk.iterdir()) == []
    assert gc(run).output == "no job has left anything on the disk of this node\n"


def test_a_cached_input_goes_unless_a_job_has_a_lease_of_it(
    disk: Path, run: Path
) -> None:
    entry = cached_input(disk)
    lease = os.open(entry, os.O_RDONLY)
    fcntl.flock(lease, fcntl.LOCK_SH)
    assert f"KEPT        {entry} (8.0 KiB): a job has it\n" in gc(run, "--yes").output
    os.close(lease)
    assert f"REMOVED     {entry} (8.0 KiB)" in gc(run, "--yes").output
    assert not entry.exists()


def test_what_is_not_ours_is_neither_listed_nor_removed(disk: Path, run: Path) -> None:
    theirs = disk / f"pegasus_bb.{HOST}.theirs"
    theirs.mkdir()
    if os.geteuid() == 0:
        os.chown(theirs, 12345, -1)
    else:
        theirs.rmdir()
    (disk / "data").mkdir()
    (disk / "pegasus_bb.another-host.work.1").mkdir()
    before = sorted(disk.iterdir())
    assert "no job has left anything" in gc(run, "--yes").output
    assert sorted(disk.iterdir()) == before


def test_the_other_nodes_of_a_run_are_named_with_a_command_for_them(
    site: Site, disk: Path, run: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    site.run("run")
    assert "its jobs were also on" not in gc(run).output
    monkeypatch.setattr(socket, "gethostname", lambda: "login.example.org")
    monkeypatch.setattr("shutil.which", lambda name: f"/usr/bin/{name}")
    last = gc(run).output.splitlines()[-1]
    here = HOST.partition(".")[0]
    assert last.startswith(f"its jobs were also on {here}; there: srun --nodelist=")
    assert last.endswith(f"gc --nodes {run}")


def test_programs_read_json(disk: Path, run: Path) -> None:
    left = killed_job(disk, "work.1")
    [one] = json.loads(gc(run, "--json").output)["left"]
    assert (one["path"], one["goes"]) == (str(left), True)
    assert one["size"] >= 8192


def launchers_below(folder: Path) -> list[int]:
    """The parents of the tasks that work below ``folder``."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            if (process / "cwd").readlink().is_relative_to(folder):
                stat = (process / "stat").read_text().rpartition(")")[2]
                found.append(int(stat.split()[1]))
        except OSError:  # ended, or another user's
            continue
    return found


@pytest.fixture
def private(site: Site, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where each job of this user has a private folder on the disk of its node."""
    site.configure("condorio")
    disk = tmp_path / "disk"
    disk.mkdir()
    monkeypatch.setenv("TMPDIR", str(disk))
    site.planned("run", "--bb-mode", "persistent", "--bb-private", "node")
    return disk / f"pegasus-bb-jobs-{os.getuid()}"


def test_the_private_folder_of_a_killed_job_goes_and_that_of_a_running_one_stays(
    site: Site, private: Path
) -> None:
    run = site.submit_dir("run")
    begun = site.slow(60)
    engine = site.start_run("run")
    until(begun.exists)
    (folder,) = private.iterdir()
    assert f"KEPT        {folder} (" in gc(run, "--yes").output
    kill(engine)
    for launcher in launchers_below(folder):
        os.kill(launcher, signal.SIGKILL)
    until(lambda: f"WOULD GO    {folder} (" in gc(run).output)
    assert f"REMOVED     {folder} (" in gc(run, "--yes").output
    assert list(private.iterdir()) == []


def test_private_folders_that_others_may_exchange_are_left_alone(
    site: Site, private: Path
) -> None:
    """And whatever no job has made."""
    run = site.submit_dir("run")
    left = private / "0123456789ab.work_1.0"
    for folder in (left, private / "thesis"):
        folder.mkdir(parents=True)
    private.chmod(0o700)
    private.parent.chmod(0o777)
    assert "not looked at: other users may rename" in gc(run, "--yes").output
    private.parent.chmod(0o755)
    assert f"REMOVED     {left} (" in gc(run, "--yes").output
    assert [each.name for each in private.iterdir()] == ["thesis"]


def test_a_run_without_disks_of_nodes_is_refused(site: Site) -> None:
    run = site.planned("run", "--bb-mode", "persistent")
    with pytest.raises(UsageError, match="no tier that is a disk of each node"):
        gc(run)


def test_a_link_in_the_place_of_the_cache_leads_to_nothing_that_is_removed(
    tmp_path: Path, disk: Path, run: Path
) -> None:
    thesis = tmp_path / "home" / "thesis"
    thesis.mkdir(parents=True)
    Path(cache_path(str(disk))).symlink_to(thesis.parent)
    shown = gc(run, "--yes").output
    assert "not looked at" in shown
    assert thesis.is_dir()


def test_a_cache_that_others_may_write_is_left_alone(disk: Path, run: Path) -> None:
    entry = cached_input(disk)
    entry.parent.chmod(0o777)
    assert "KEPT" in gc(run, "--yes").output
    assert (entry / "in.txt").exists()


def test_a_machine_without_the_disk_still_names_the_nodes_of_the_run(
    site: Site, disk: Path, run: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    site.run("run")
    disk.rmdir()
    monkeypatch.setattr(socket, "gethostname", lambda: "login")
    done = gc(run)
    assert done.exit_code == 0
    assert done.output.startswith("no node-local disk on login: ")
    assert "its jobs were also on " in done.output


def test_a_folder_that_each_job_has_for_itself_is_not_searched_for_others(
    site: Site,
) -> None:
    site.has_disks(mount="any")
    site.declare(path="/nvme/$SLURM_JOB_ID")
    run = site.planned("run", "--bb-mode", "transient")
    with pytest.raises(
        UsageError, match=r"another folder in each job \(SLURM_JOB_ID\)"
    ):
        gc(run)


def test_only_names_of_hosts_become_words_of_a_command(
    site: Site, disk: Path, run: Path
) -> None:
    site.run("run")
    names = iter(["node0\x1b[2J", "a,b", "/etc/passwd", "10.1.2.3", "n1.example.org"])
    for record in sorted(run.rglob("*.out.000"))[:5]:
        text = record.read_text().replace(
            f'hostname: "{HOST}"', f'hostname: "{next(names)}"'
        )
        record.write_text(text)
    [last] = [x for x in gc(run).output.splitlines() if "its jobs were also on" in x]
    assert last.startswith("its jobs were also on 10.1.2.3, n1; there: ")


def test_a_folder_that_is_closed_to_this_user_is_not_said_to_be_in_use(
    disk: Path, run: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    left = killed_job(disk, "work.1")
    left.chmod(0)
    if os.geteuid() == 0:  # nothing is closed to root
        monkeypatch.setattr(node_leftovers, "is_unlocked", lambda path: False)
        monkeypatch.setattr(os, "access", lambda path, mode: False)
    shown = gc(run).output
    left.chmod(0o700)
    assert f"KEPT        {left} (" in shown
    assert ": closed to this user: it cannot be looked into\n" in shown
