"""What a job in a private folder may do to its inputs."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from pegasus_bb.runtime.private_inputs import LinkedInputs, bring
from tests.support.as_root import as_root
from tests.support.forked import ended
from tests.support.private_jobs import LARGE, PrivateJob, run_by_a_user
from tests.support.refused import CHMOD, SYMLINK, without


class TestInputs:
    def test_a_large_one_is_a_closed_link_and_a_small_one_a_copy(
        self, job: PrivateJob
    ) -> None:
        (job.scratch / "big.dat").chmod(0o664)
        (job.scratch / "small.txt").chmod(0o750)
        os.utime(job.scratch / "small.txt", (1, 1_000_000_000))
        says = "find . -type l; stat -L -c %a big.dat; stat -c '%a %Y' small.txt"
        ended(job.run(f"{{ {says}; }} > out.txt"))
        assert job.made() == "./big.dat\n1464\n750 1000000000\n"

    def test_may_be_listed_renamed_and_deleted(self, job: PrivateJob) -> None:
        task = "for f in *; do mv $f x-$f; done; cat x-* | wc -c > out.txt; rm x-*"
        ended(job.run(task))
        assert int(job.made()) == len(LARGE) + len("small\n")
        assert (job.scratch / "big.dat").read_bytes() == LARGE
        assert job.made("small.txt") == "small\n"

    @pytest.mark.parametrize(
        ("copied", "lfn"),
        [([], "small.txt"), (["big.dat"], "big.dat"), (["tree"], "tree/leaf")],
    )
    def test_a_small_one_and_one_that_is_to_be_copied_are_the_job_s_own(
        self, job: PrivateJob, copied: list[str], lfn: str
    ) -> None:
        (job.scratch / "tree").mkdir()
        (job.scratch / "tree/leaf").write_text("leaf\n")
        job.needs.update(inputs=["small.txt", "big.dat", "tree"], copied=copied)
        before = job.made(lfn)
        ended(job.run(f"echo more >> {lfn}; cp {lfn} out.txt"))
        assert job.made() == f"{before}more\n"
        assert job.made(lfn) == before

    def test_a_folder_of_the_users_own_is_as_it_was(self, job: PrivateJob) -> None:
        """What lies in the workflow directory is a link to it."""
        mine = job.site.root / "mine"
        (mine / "sub").mkdir(parents=True)
        for name in ("a.txt", "sub/b.txt"):
            (mine / name).write_bytes(LARGE)
        (job.scratch / "ref").symlink_to(mine)
        job.needs["inputs"] = ["ref"]
        task = (
            "cat ref/a.txt > out.txt; echo index > ref/a.idx; rm -r ref/sub ref/a.txt"
        )
        ended(job.run(task))
        assert job.made() == LARGE.decode()
        found = {str(p.relative_to(mine)): p.stat().st_mode for p in mine.rglob("*")}
        assert sorted(found) == ["a.txt", "sub", "sub/b.txt"]
        assert all(mode & 0o222 == 0o200 for mode in found.values()), "none was closed"

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

    @as_root
    @pytest.mark.parametrize(
        ("task", "status"),
        [
            ("echo more >> big.dat; echo done > out.txt", 1),
            ("rm $(realpath big.dat); echo done > out.txt", 1),
            ("echo more >> tree/big.dat; echo done > out.txt", 1),
            ("echo more >> big.dat; exit 3", 3),
        ],
    )
    def test_one_that_root_changes_in_place_fails_the_job(
        self, job: PrivateJob, task: str, status: int
    ) -> None:
        (job.scratch / "tree").mkdir()
        (job.scratch / "tree/big.dat").write_bytes(LARGE)
        job.needs["inputs"] = ["big.dat", "tree"]
        said = ended(job.run(task), status)
        assert "big.dat: the task has changed its input in place" in said
        assert "`bb.inputs: copy`" in said
        assert not (job.scratch / "out.txt").exists()

    def test_a_user_can_touch_one_but_not_write_to_it_and_is_told_what_lets_him(
        self, job_of_a_user: PrivateJob
    ) -> None:
        ended(run_by_a_user(job_of_a_user, "touch big.dat; echo > out.txt"))
        done = run_by_a_user(job_of_a_user, "echo more >> big.dat; echo > out.txt")
        assert "`bb.inputs: copy`" in ended(done, 2)
        assert (job_of_a_user.scratch / "big.dat").read_bytes() == LARGE

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
