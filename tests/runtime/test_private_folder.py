"""A job in a folder of its own finds its inputs there, and leaves its outputs."""

from __future__ import annotations

import os
import signal
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from pegasus_bb.runtime.install import install_runtime
from pegasus_bb.runtime.private_inputs import LinkedInputs, bring
from tests.support.job_lists import SCRATCH
from tests.support.refused import CHMOD, SYMLINK, without
from tests.support.run_site import NODE, Site
from tests.support.waiting import until

LARGE = b"large\n" * 100_000


class PrivateJob:
    """A job that reads big.dat and small.txt, and makes out.txt."""

    def __init__(self, site: Site) -> None:
        self.site = site
        self.scratch = site.scratch
        self.jobs = site.scratch / ".jobs"
        (self.scratch / "big.dat").write_bytes(LARGE)
        (self.scratch / "small.txt").write_text("small\n")
        (self.scratch / "other.txt").write_text("of another job\n")
        self.needs: dict[str, Any] = {
            "scratch": SCRATCH,
            "below": 65536,
            "inputs": ["big.dat", "small.txt"],
            "outputs": ["out.txt"],
        }

    def run(
        self, task: str, *, works_in: str = SCRATCH, **environ: str
    ) -> subprocess.CompletedProcess[bytes]:
        self.note()
        argv = self.argv(task, works_in)[1:]
        return self.site.start("launch", *argv, **environ)

    def note(self, **more: Any) -> None:
        data = {"version": 2, "private": self.needs, **more}
        self.site.write(f"nodes/{NODE}.json", data)

    def argv(self, task: str, works_in: str = SCRATCH) -> list[str]:
        record = [self.site.program("record"), "-w", works_in]
        return [self.site.program("launch"), *record, "sh", "-e", "-c", task]

    def made(self, lfn: str = "out.txt") -> str:
        return (self.scratch / lfn).read_text()


@pytest.fixture
def job(site: Site) -> PrivateJob:
    return PrivateJob(site)


@pytest.fixture
def job_of_a_user(new_archives: None) -> Iterator[PrivateJob]:
    if os.getuid() != 0:
        pytest.skip("only root becomes another user")
    with tempfile.TemporaryDirectory(prefix="pegasus-bb-user-") as folder:
        Path(folder).chmod(0o755)
        site = Site(Path(folder) / "site", reserved=False)
        site.scratch.mkdir(parents=True)
        site.plan_without_buffer(site.scratch)
        job = PrivateJob(site)
        job.needs["scratch"] = str(site.scratch)
        install_runtime(str(job.site.bb), "/usr/bin/python3")
        job.note()
        for path in Path(folder).rglob("*"):
            os.chown(path, 1000, 1000, follow_symlinks=False)
        yield job


def run_by_a_user(job: PrivateJob, task: str) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        job.argv(task, str(job.scratch)),
        env={"PATH": os.environ["PATH"], "PEGASUS_DAG_JOB_ID": NODE},
        user=1000,
        group=1000,
        extra_groups=[],
        cwd="/",
        capture_output=True,
        check=False,
    )


def ended(done: subprocess.CompletedProcess[bytes], status: int = 0) -> str:
    """What it said, after it ended with ``status``."""
    assert done.returncode == status, done.stderr + done.stdout
    return done.stderr.decode()


class TestTheFolder:
    def test_has_the_inputs_and_nothing_else(self, job: PrivateJob) -> None:
        ended(job.run("there=$(ls -A; pwd); echo $there > out.txt"))
        *names, place = job.made().split()
        assert names == ["big.dat", "small.txt"]
        assert place == str(job.jobs / f"{NODE}.0")
        assert list(job.jobs.iterdir()) == []

    def test_is_where_the_workflow_directory_is_named(self, job: PrivateJob) -> None:
        job.needs["inputs"] = ["small.txt"]
        ended(job.run(f"cat {SCRATCH}/small.txt > out.txt"))
        assert job.made() == "small\n"

    def test_has_inputs_and_outputs_in_their_folders(self, job: PrivateJob) -> None:
        (job.scratch / "a/b").mkdir(parents=True)
        (job.scratch / "c").mkdir()
        (job.scratch / "a/b/deep.dat").write_bytes(LARGE)
        job.needs.update(inputs=["a/b/deep.dat"], outputs=["c/out.txt"])
        ended(job.run("wc -c < a/b/deep.dat > c/out.txt"))
        assert int(job.made("c/out.txt")) == len(LARGE)

    def test_takes_undeclared_files_with_it(self, job: PrivateJob) -> None:
        many = "seq 1 2000 | xargs touch; mkdir -p deep/er; echo x > deep/er/x"
        ended(job.run(f"{many}; echo done > out.txt"))
        assert sorted(p.name for p in job.scratch.iterdir()) == [
            ".jobs",
            "big.dat",
            "other.txt",
            "out.txt",
            "small.txt",
        ]
        assert list(job.jobs.iterdir()) == []

    @pytest.mark.parametrize("task", ["exit 3", "rm -rf *; exit 3", "cd /; exit 3"])
    def test_goes_after_a_failure_too(self, job: PrivateJob, task: str) -> None:
        ended(job.run(task), 3)
        assert list(job.jobs.iterdir()) == []
        assert not (job.scratch / "out.txt").exists()

    def test_goes_after_sigterm(self, job: PrivateJob) -> None:
        job.run("true")
        task = "touch begun; exec sleep 60"
        begun = job.jobs / f"{NODE}.0" / "begun"
        environ = {**os.environ, "PEGASUS_DAG_JOB_ID": NODE}
        with subprocess.Popen(
            job.argv(task),
            env=environ,
            stdout=subprocess.DEVNULL,
            start_new_session=True,
        ) as launch:
            until(begun.exists)
            launch.send_signal(signal.SIGTERM)
            assert launch.wait() == 128 + signal.SIGTERM
        assert list(job.jobs.iterdir()) == []

    def test_of_a_killed_try_goes_when_the_next_one_starts(
        self, job: PrivateJob
    ) -> None:
        killed = job.jobs / f"{NODE}.0"
        killed.mkdir(parents=True)
        (killed / "out.txt").write_text("half")
        other = job.jobs / "other_ID1.0"
        other.mkdir()
        ended(job.run("pwd > out.txt"))
        assert job.made() == f"{job.jobs}/{NODE}.1\n"
        assert list(job.jobs.iterdir()) == [other]

    def test_is_on_the_disk_of_the_node_where_that_is_wanted(
        self, job: PrivateJob, tmp_path: Path
    ) -> None:
        (tmp_path / "disk").mkdir()
        job.needs["disk"] = "$TMPDIR"
        ended(job.run("pwd; pwd > out.txt", TMPDIR=str(tmp_path / "disk")))
        home = tmp_path / "disk" / f"pegasus-bb-jobs-{os.getuid()}"
        place = Path(job.made().strip())
        assert place.parent == home
        assert place.name.endswith(f".{NODE}.0")
        assert list(home.iterdir()) == []
        assert not job.jobs.exists()

    def test_of_another_run_on_the_same_disk_stays(
        self, job: PrivateJob, tmp_path: Path
    ) -> None:
        other = PrivateJob(Site(tmp_path / "other"))
        for each in (job, other):
            each.needs["disk"] = str(tmp_path)
        other.run("echo installed > out.txt")
        job.run("echo installed > out.txt")
        begun = tmp_path / "begun"
        task = f"pwd > {begun}; until [ -e {tmp_path}/go ]; do sleep .02; done"
        with subprocess.Popen(
            job.argv(f"{task}; cat small.txt > out.txt"),
            env={**os.environ, "PEGASUS_DAG_JOB_ID": NODE},
            stdout=subprocess.DEVNULL,
        ) as launch:
            until(begun.exists)
            ended(other.run("echo done > out.txt"))
            (tmp_path / "go").touch()
            assert launch.wait() == 0
        assert job.made() == "small\n"

    @pytest.mark.skipif(os.getuid() != 0, reason="only root gives files away")
    @pytest.mark.parametrize("kind", ["folder", "link"])
    def test_is_not_made_in_what_another_user_has_put_there(
        self, job: PrivateJob, tmp_path: Path, kind: str
    ) -> None:
        home = tmp_path / f"pegasus-bb-jobs-{os.getuid()}"
        if kind == "link":
            (tmp_path / "elsewhere").mkdir()
            home.symlink_to(tmp_path / "elsewhere")
        else:
            home.mkdir()
            os.chown(home, 1000, 1000)
        job.needs["disk"] = str(tmp_path)
        said = ended(job.run("echo done > out.txt"), 2)
        assert f"{home}: is not a folder of this user" in said

    def test_is_there_for_a_run_without_a_tier(
        self, site_without_reservation: Site
    ) -> None:
        site = site_without_reservation
        site.scratch.mkdir(parents=True)
        job = PrivateJob(site)
        site.plan_without_buffer(site.scratch)
        job.needs["scratch"] = str(site.scratch)
        ended(job.run("cat small.txt > out.txt", works_in=str(site.scratch)))
        assert job.made() == "small\n"


class TestInputs:
    def test_are_links_from_a_size_on(self, job: PrivateJob) -> None:
        ended(job.run("find . -type l > out.txt"))
        assert job.made().split() == ["./big.dat"]

    def test_may_be_listed_renamed_and_deleted(self, job: PrivateJob) -> None:
        task = "for f in *; do mv $f x-$f; done; cat x-* | wc -c > out.txt; rm x-*"
        ended(job.run(task))
        assert int(job.made()) == len(LARGE) + len("small\n")
        assert (job.scratch / "big.dat").read_bytes() == LARGE
        assert job.made("small.txt") == "small\n"

    def test_a_small_one_is_the_job_s_own(self, job: PrivateJob) -> None:
        ended(job.run("echo more >> small.txt; cat small.txt > out.txt"))
        assert job.made() == "small\nmore\n"
        assert job.made("small.txt") == "small\n"

    def test_a_copy_has_the_mode_and_the_time(self, job: PrivateJob) -> None:
        (job.scratch / "small.txt").chmod(0o750)
        os.utime(job.scratch / "small.txt", (1, 1_000_000_000))
        ended(job.run("stat -c '%a %Y' small.txt > out.txt"))
        assert job.made() == "750 1000000000\n"

    def test_one_that_is_to_be_copied_is_the_job_s_own(self, job: PrivateJob) -> None:
        job.needs["copied"] = ["big.dat"]
        ended(job.run("echo more >> big.dat; tail -n 1 big.dat > out.txt"))
        assert job.made() == "more\n"
        assert (job.scratch / "big.dat").read_bytes() == LARGE

    def test_a_folder_may_be_copied_too(self, job: PrivateJob) -> None:
        (job.scratch / "tree").mkdir()
        (job.scratch / "tree/leaf").write_text("leaf\n")
        job.needs.update(inputs=["tree"], copied=["tree"])
        ended(job.run("echo more >> tree/leaf; cat tree/leaf > out.txt"))
        assert job.made() == "leaf\nmore\n"
        assert job.made("tree/leaf") == "leaf\n"

    def test_a_folder_may_be_changed_but_not_its_files(self, job: PrivateJob) -> None:
        tree = job.scratch / "tree"
        (tree / "in").mkdir(parents=True)
        (tree / "in/big").write_bytes(LARGE)
        (tree / "in/big").chmod(0o664)
        (tree / "small").write_text("small\n")
        (tree / "link").symlink_to("in/big")
        job.needs["inputs"] = ["tree"]
        shows = "stat -L -c %a tree/link > out.txt; cat tree/small >> out.txt"
        changes = "echo more >> tree/small; touch tree/new; rm tree/in/big tree/link"
        ended(job.run(f"{shows}; {changes}"))
        assert job.made() == "1464\nsmall\n"
        assert job.made("tree/small") == "small\n"
        assert (tree / "link").read_bytes() == LARGE
        assert sorted(each.name for each in tree.iterdir()) == ["in", "link", "small"]

    @pytest.mark.skipif(os.getuid() != 0, reason="others are refused by the kernel")
    def test_a_file_of_a_folder_that_root_changes_fails_the_job(
        self, job: PrivateJob
    ) -> None:
        (job.scratch / "tree").mkdir()
        (job.scratch / "tree/big").write_bytes(LARGE)
        job.needs["inputs"] = ["tree"]
        said = ended(job.run("echo more >> tree/big; echo done > out.txt"), 1)
        assert "big: the task has changed its input in place" in said

    def test_are_copies_where_the_file_system_refuses_links_and_modes(
        self, tmp_path: Path
    ) -> None:
        source, here = tmp_path / "big.dat", tmp_path / "here"
        source.write_bytes(LARGE)
        linked = LinkedInputs()

        def work() -> None:
            bring("big.dat", str(source), str(here), linked, below=0, whole=False)

        told = without((*CHMOD, *SYMLINK), work)
        assert told.returncode == 0, told.stderr
        assert "is a copy of what its link leads to" in told.stderr
        assert here.read_bytes() == LARGE
        assert not here.is_symlink()

    def test_a_link_is_closed_to_its_owner_s_writing(self, job: PrivateJob) -> None:
        (job.scratch / "big.dat").chmod(0o664)
        ended(job.run("stat -L -c %a big.dat > out.txt"))
        assert job.made() == "1464\n"

    @pytest.mark.skipif(os.getuid() != 0, reason="others are refused by the kernel")
    @pytest.mark.parametrize(
        "writes",
        ["echo more >> big.dat", "cat small.txt > big.dat", "rm $(realpath big.dat)"],
    )
    def test_one_that_root_changes_in_place_fails_the_job(
        self, job: PrivateJob, writes: str
    ) -> None:
        said = ended(job.run(f"{writes}; echo done > out.txt"), 1)
        assert "big.dat: the task has changed its input in place" in said
        assert "`bb.inputs: copy`" in said
        assert not (job.scratch / "out.txt").exists()

    @pytest.mark.skipif(os.getuid() != 0, reason="others are refused by the kernel")
    def test_one_that_root_changes_is_named_after_a_failure_too(
        self, job: PrivateJob
    ) -> None:
        said = ended(job.run("echo more >> big.dat; exit 3"), 3)
        assert "big.dat: the task has changed its input in place" in said

    def test_a_user_cannot_write_to_one_and_is_told_what_lets_him(
        self, job_of_a_user: PrivateJob
    ) -> None:
        done = run_by_a_user(job_of_a_user, "echo more >> big.dat; echo > out.txt")
        assert "`bb.inputs: copy`" in ended(done, 2)
        assert (job_of_a_user.scratch / "big.dat").read_bytes() == LARGE

    def test_a_user_can_touch_one(self, job_of_a_user: PrivateJob) -> None:
        ended(run_by_a_user(job_of_a_user, "touch big.dat; echo > out.txt"))

    def test_a_user_who_cannot_write_to_a_copy_can_do_so_when_he_tries_again(
        self, job_of_a_user: PrivateJob
    ) -> None:
        task = "cp big.dat work; echo more >> work; tail -n 1 work > out.txt"
        said = ended(run_by_a_user(job_of_a_user, task), 2)
        assert "work is a copy of an input" in said
        ended(run_by_a_user(job_of_a_user, task))
        assert job_of_a_user.made() == "more\n"
        assert (job_of_a_user.scratch / "big.dat").read_bytes() == LARGE

    def test_one_that_is_not_there_is_named(self, job: PrivateJob) -> None:
        (job.scratch / "big.dat").unlink()
        said = ended(job.run("echo done > out.txt"), 1)
        assert "big.dat: the input cannot be brought" in said
        assert list(job.jobs.iterdir()) == []


class TestOutputs:
    def test_one_that_is_missing_fails_the_job(self, job: PrivateJob) -> None:
        job.needs["outputs"] = ["out.txt", "second.txt"]
        said = ended(job.run("echo done > out.txt"), 1)
        assert "second.txt: the task ended well, but has not made" in said
        assert not (job.scratch / "out.txt").exists()

    def test_they_replace_what_an_earlier_try_has_left(self, job: PrivateJob) -> None:
        (job.scratch / "out.txt").write_text("older")
        (job.scratch / "tree").mkdir()
        (job.scratch / "tree/old").touch()
        job.needs["outputs"] = ["out.txt", "tree"]
        ended(job.run("echo new > out.txt; mkdir tree; echo new > tree/new"))
        assert job.made() == "new\n"
        assert [p.name for p in (job.scratch / "tree").iterdir()] == ["new"]

    def test_one_that_others_read_is_closed_to_writing(self, job: PrivateJob) -> None:
        job.needs["read"] = ["out.txt"]
        ended(job.run("umask 002; echo done > out.txt"))
        assert (job.scratch / "out.txt").stat().st_mode & 0o7777 == 0o1464

    def test_one_that_is_a_copy_of_an_input_may_be_written(
        self, job: PrivateJob
    ) -> None:
        (job.scratch / "big.dat").chmod(0o664)
        (job.scratch / "other.txt").write_bytes(LARGE + LARGE)
        (job.scratch / "other.txt").chmod(0o444)
        job.needs["inputs"] = ["big.dat", "other.txt"]
        job.needs["outputs"] = ["out.txt", "other.out", "own.out"]
        copies = "cp big.dat out.txt; cp other.txt other.out"
        ended(job.run(f"umask 022; {copies}; echo 1 > own.out; chmod 400 own.out"))
        modes = [(job.scratch / lfn).stat().st_mode for lfn in job.needs["outputs"]]
        assert [mode & 0o7777 for mode in modes] == [0o644, 0o444, 0o400]

    def test_one_that_is_a_further_name_of_an_input_leaves_that_closed(
        self, job: PrivateJob
    ) -> None:
        (job.scratch / "big.dat").chmod(0o664)
        ended(job.run("ln -L big.dat out.txt"))
        assert (job.scratch / "big.dat").stat().st_mode & 0o7777 == 0o1464

    def test_one_that_others_read_is_closed_when_it_is_copied_back(
        self, job: PrivateJob
    ) -> None:
        job.needs["read"] = ["out.txt"]
        ended(job.run("umask 002; echo done > real; ln -s real out.txt"))
        assert (job.scratch / "out.txt").stat().st_mode & 0o7777 == 0o1464

    @pytest.mark.parametrize(
        "task",
        [
            "echo done > real; ln -s real out.txt",
            "echo done > real; ln real out.txt",
            "echo done > $PWD/real; ln -s $PWD/real out.txt",
        ],
    )
    def test_a_link_is_what_it_leads_to(self, job: PrivateJob, task: str) -> None:
        ended(job.run(task))
        assert not (job.scratch / "out.txt").is_symlink()
        assert job.made() == "done\n"

    def test_an_input_that_is_renamed_to_it_stays(self, job: PrivateJob) -> None:
        ended(job.run("mv big.dat out.txt"))
        assert (job.scratch / "out.txt").read_bytes() == LARGE
        assert (job.scratch / "big.dat").read_bytes() == LARGE

    @pytest.mark.parametrize(
        "task",
        [
            "mv big.dat out/big",
            "cp -a big.dat out/big",
            "mkdir real; mv big.dat real/big; rmdir out; ln -s real out",
            "mkdir out/in; mv big.dat out/in; ln -s in/big.dat out/big",
            "cp big.dat mine; ln -s ../mine out/big",
            "cp big.dat mine; ln -s $PWD/mine out/big",
            "cp big.dat out/mine; ln -s $PWD/out/mine out/big",
            "cp big.dat mine; ln -s ../../other.txt out/other; ln -s ../mine out/big",
        ],
    )
    def test_a_folder_has_the_inputs_that_were_moved_there(
        self, job: PrivateJob, task: str
    ) -> None:
        job.needs["outputs"] = ["out"]
        ended(job.run(f"mkdir out; {task}"))
        (job.scratch / "big.dat").unlink()
        assert (job.scratch / "out/big").read_bytes() == LARGE

    def test_a_folder_has_them_on_a_disk_behind_a_link_too(
        self, job: PrivateJob, tmp_path: Path
    ) -> None:
        (tmp_path / "real").mkdir()
        (tmp_path / "disk").symlink_to(tmp_path / "real")
        job.needs.update(outputs=["out"], disk=str(tmp_path / "disk"))
        ended(job.run("mkdir out; cp big.dat mine; ln -s $(pwd -P)/mine out/big"))
        assert (job.scratch / "out/big").read_bytes() == LARGE

    def test_a_folder_keeps_its_links_to_elsewhere(
        self, job: PrivateJob, tmp_path: Path
    ) -> None:
        job.needs["outputs"] = ["out"]
        (tmp_path / "elsewhere").touch()
        links = f"ln -s {tmp_path}/elsewhere out/there; ln -s none out/none"
        ended(job.run(f"mkdir out; {links}"))
        assert (job.scratch / "out/there").readlink() == tmp_path / "elsewhere"
        assert (job.scratch / "out/none").is_symlink()

    def test_a_link_that_leads_nowhere_fails_the_job(self, job: PrivateJob) -> None:
        said = ended(job.run("ln -s nothing out.txt"), 1)
        assert "out.txt" in said

    def test_an_input_that_is_an_output_too_is_replaced(self, job: PrivateJob) -> None:
        job.needs.update(outputs=["big.dat"], copied=["big.dat"])
        ended(job.run("echo new > big.dat"))
        assert job.made("big.dat") == "new\n"

    def test_one_that_lives_on_the_pfs_gets_there(self, job: PrivateJob) -> None:
        home = job.site.pfs_scratch / "out.txt"
        job.site.place({"out.txt": "pfs write"})
        job.note(links={"out.txt": str(home)})
        argv = job.argv("echo done > tmp; mv tmp out.txt")[1:]
        ended(job.site.start("launch", *argv))
        assert home.read_text() == "done\n"
        assert (job.scratch / "out.txt").readlink() == home


class TestCheckpoints:
    def test_each_try_goes_on_where_the_last_one_ended(self, job: PrivateJob) -> None:
        job.needs["checkpoints"] = ["saved.txt"]
        task = (
            "echo step >> saved.txt; [ $(wc -l < saved.txt) = 3 ]; cp saved.txt out.txt"
        )
        assert [job.run(task).returncode for _ in range(3)] == [1, 1, 0]
        assert job.made().split() == ["step"] * 3

    def test_one_that_is_not_made_is_no_fault(self, job: PrivateJob) -> None:
        job.needs["checkpoints"] = ["saved.txt"]
        ended(job.run("echo done > out.txt"))
        assert not (job.scratch / "saved.txt").exists()


def test_a_cluster_has_one_folder(job: PrivateJob) -> None:
    """Its tasks are started below its launch, and find what earlier ones have made."""
    job.needs["outputs"] = ["first.txt", "out.txt"]
    inner = f"{job.site.program('launch')} {job.site.program('record')} -w {SCRATCH}"
    first = f"{inner} sh -c 'pwd > first.txt'"
    second = f"{inner} sh -c 'cat first.txt > out.txt; pwd >> out.txt'"
    ended(job.run(f"{first} >&2; {second} >&2"))
    one, other = job.made().split()
    assert one == other == f"{job.jobs}/{NODE}.0"
