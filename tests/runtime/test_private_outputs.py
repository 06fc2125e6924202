"""What a job in a private folder has made comes to the workflow directory."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest

from pegasus_bb.runtime.private_outputs import Output, copy_links, move_back
from tests.support.forked import ended
from tests.support.private_jobs import LARGE, PrivateJob


class TestOutputs:
    def test_one_that_is_missing_fails_the_job(self, job: PrivateJob) -> None:
        job.needs["outputs"] = ["out.txt", "second.txt"]
        said = ended(job.run("echo done > out.txt"), 1)
        assert "second.txt: the task ended well, but has not made" in said
        assert not (job.scratch / "out.txt").exists()

    def test_one_in_a_folder_finds_that_made(self, job: PrivateJob) -> None:
        """As condorio does; a real pegasus-plan makes none of these beforehand."""
        job.needs["outputs"] = ["deep/er/out.txt"]
        ended(job.run("echo done > deep/er/out.txt"))
        assert job.made("deep/er/out.txt") == "done\n"

    def test_they_replace_what_an_earlier_try_has_left(self, job: PrivateJob) -> None:
        (job.scratch / "out.txt").write_text("older")
        (job.scratch / "tree").mkdir()
        (job.scratch / "tree/old").touch()
        job.needs["outputs"] = ["out.txt", "tree"]
        ended(job.run("echo new > out.txt; mkdir tree; echo new > tree/new"))
        assert job.made() == "new\n"
        assert [p.name for p in (job.scratch / "tree").iterdir()] == ["new"]

    @pytest.mark.parametrize("task", ["> out.txt", "> real; ln -s real out.txt"])
    def test_one_that_others_read_is_closed_to_writing(
        self, job: PrivateJob, task: str
    ) -> None:
        job.needs["read"] = ["out.txt"]
        ended(job.run(f"umask 002; echo done {task}"))
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
        assert not (job.scratch / "out.txt").is_symlink()
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

    def test_links_may_lead_to_outputs_that_come_before_them(
        self, job: PrivateJob
    ) -> None:
        job.needs["outputs"] = ["a.txt", "full", "near", "one", "two"]
        made = "echo made > a.txt; mkdir one two; echo 1 > one/file"
        links = "ln -s $PWD/a.txt full; ln -s a.txt near; ln -s ../one/file two/file"
        ended(job.run(f"{made}; {links}; ln -s ../a.txt one/text"))
        for lfn in ("a.txt", "full", "near", "one/text"):
            assert job.made(lfn) == "made\n"
        assert job.made("two/file") == "1\n"
        assert not (job.scratch / "full").is_symlink()

    def test_each_try_begins_without_what_a_failed_one_wrote_on_the_pfs(
        self, job: PrivateJob
    ) -> None:
        home = job.site.pfs_scratch / "out.txt"
        job.site.place({"out.txt": "pfs write"})
        job.note(links={"out.txt": str(home)})
        for end in ("exit 7", "exit 0"):
            argv = job.argv(f"echo line >> out.txt; {end}")[1:]
            job.site.start("launch", *argv)
        assert home.read_text() == "line\n"

    def test_a_folder_may_be_closed_to_writing_or_lead_to_itself(
        self, job: PrivateJob, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """As of a user without the rights of root."""
        rename = os.rename

        def as_a_user(made: str, dest: str) -> None:
            if not Path(made).stat().st_mode & 0o200:
                raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), made)
            rename(made, dest)

        monkeypatch.setattr(os, "rename", as_a_user)
        made = job.scratch / "made"
        made.mkdir()
        (made / "file").touch()
        (made / "me").symlink_to(".")
        made.chmod(0o555)
        dest = job.scratch / "dest"
        output = Output(str(made), str(dest), is_read=True, elsewhere="")
        assert copy_links(output, [str(job.scratch)])
        move_back(output, [str(job.scratch)])
        assert dest.stat().st_mode & 0o777 == 0o555
        assert (dest / "me").readlink() == Path()

    def test_a_folder_in_the_place_of_a_planned_link_keeps_what_its_links_lead_to(
        self, job: PrivateJob
    ) -> None:
        home = job.site.pfs_scratch / "out.txt"
        job.site.place({"out.txt": "pfs write"})
        job.note(links={"out.txt": str(home)})
        links = "ln -s $PWD/tmp out.txt/full; ln -s ../tmp out.txt/near"
        argv = job.argv(f"echo done > tmp; rm out.txt; mkdir out.txt; {links}")[1:]
        ended(job.site.start("launch", *argv))
        assert [(home / name).read_text() for name in ("full", "near")] == [
            "done\n"
        ] * 2

    def test_a_link_that_leads_nowhere_fails_the_job(self, job: PrivateJob) -> None:
        said = ended(job.run("ln -s nothing out.txt"), 1)
        assert "out.txt" in said

    def test_an_input_that_is_an_output_too_is_replaced(self, job: PrivateJob) -> None:
        job.needs.update(outputs=["big.dat"], copied=["big.dat"])
        ended(job.run("echo new > big.dat"))
        assert job.made("big.dat") == "new\n"

    @pytest.mark.parametrize("task", ["mv tmp out.txt", "ln -sf tmp out.txt"])
    def test_one_that_lives_on_the_pfs_gets_there(
        self, job: PrivateJob, task: str
    ) -> None:
        home = job.site.pfs_scratch / "out.txt"
        job.site.place({"out.txt": "pfs write"})
        job.note(links={"out.txt": str(home)})
        argv = job.argv(f"echo done > tmp; {task}")[1:]
        ended(job.site.start("launch", *argv))
        assert home.read_text() == "done\n"
        assert (job.scratch / "out.txt").readlink() == home
