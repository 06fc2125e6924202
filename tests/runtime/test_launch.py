"""A job starts on the buffer, or it does not start."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

from pegasus_bb.core.errors import RESERVATION_FAILED, USAGE
from tests.support.job_lists import PREFIX, Site, names
from tests.support.waiting import until


def record_of(done: subprocess.CompletedProcess[bytes]) -> dict[str, Any]:
    (record,) = yaml.safe_load(done.stdout)
    found: dict[str, Any] = record
    return found


class TestBinding:
    def test_argv_environment_and_folder_are_real(self, site: Site) -> None:
        done = site.start(
            "launch",
            site.program("record"),
            "-n",
            "work",
            "-w",
            f"{PREFIX}/run0001",
            "sh",
            "-c",
            'pwd; echo "$1 $SCRATCH"',
            "sh",
            f"{PREFIX}/run0001/in.txt",
            SCRATCH=PREFIX,
        )
        record = record_of(done)
        assert done.returncode == 0
        assert record["cwd"] == str(site.scratch)
        said = record["files"]["stdout"]["data"]
        assert said == f"{site.scratch}\n{site.scratch}/in.txt {site.real}\n"

    def test_a_job_list_on_stdin_is_real(self, site: Site) -> None:
        given = f'[{{"url": "file://{PREFIX}/run0001/./in.txt"}}]\n'
        argv = [site.program("record"), "-i", "-", "cat"]
        done = site.start("launch", *argv, stdin=given)
        assert json.loads(record_of(done)["files"]["stdout"]["data"]) == [
            {"url": f"file://{site.scratch}/./in.txt"}
        ]

    def test_a_hostile_argument_is_one_argument(
        self, site: Site, hostile: str, tmp_path: Path
    ) -> None:
        done = site.start("launch", "printf", "%s|", f"{PREFIX}/{hostile}")
        assert done.stdout == os.fsencode(f"{site.real}/{hostile}|")
        assert not (tmp_path / "PWNED").exists()


class TestNoBuffer:
    def refused(self, site: Site) -> str:
        before = {*names(site.root), "submit"}
        done = site.start("launch", "sh", "-c", "echo x > result")
        assert done.returncode == RESERVATION_FAILED
        assert set(names(site.root)) == before
        words: str = done.stderr.decode()
        assert "Traceback" not in words
        return words

    @pytest.mark.parametrize("there", ["nothing", "an empty folder"])
    def test_a_job_does_not_start_where_the_buffer_is_not_mounted(
        self, site: Site, there: str
    ) -> None:
        site.real.rename(site.root / "elsewhere")
        if there == "an empty folder":
            site.real.mkdir(mode=0o700)
        assert "pbb4f1c2a9e" in self.refused(site)

    def test_a_job_does_not_start_on_the_buffer_of_another_run(
        self, site: Site
    ) -> None:
        request = json.loads((site.bb / "request.json").read_text())
        request["uuid"] = "run-2"
        (site.bb / "request.json").write_text(json.dumps(request))
        assert "run-1" in self.refused(site)


class TestExitStatus:
    def test_of_what_is_not_there(self, site: Site, tmp_path: Path) -> None:
        (tmp_path / "data").write_text("no program")
        assert site.start("launch", "/absent").returncode == 127
        assert site.start("launch", str(tmp_path / "data")).returncode == 126


class TestSignals:
    @pytest.mark.parametrize(
        ("leads_group", "number"), [(True, signal.SIGTERM), (False, signal.SIGINT)]
    )
    def test_reach_the_task_and_what_it_started(
        self, site: Site, leads_group: bool, number: int, tmp_path: Path
    ) -> None:
        inner = f"sh -c 'echo $$ > {tmp_path}/pid; exec sleep 60'"
        task = ("sh", "-c", f"{inner}; exit 0")
        running = site.begin(
            "launch", site.program("record"), *task, leads_group=leads_group
        )
        grandchild = wait_for_pid(tmp_path / "pid")
        running.send_signal(number)
        out, _ = running.communicate(timeout=120)
        assert running.returncode == 128 + number
        (record,) = yaml.safe_load(out)
        assert record["mainjob"]["status"]["signalled_signal"] == number
        until(lambda: not is_alive(grandchild))

    def test_a_killed_launch_takes_the_task_with_it(
        self, site: Site, tmp_path: Path
    ) -> None:
        task = ("sh", "-c", f"echo $$ > {tmp_path}/pid; exec sleep 60")
        running = site.begin("launch", site.program("record"), *task)
        task = wait_for_pid(tmp_path / "pid")
        running.kill()
        running.communicate()
        until(lambda: not is_alive(task))


def wait_for_pid(path: Path) -> int:
    until(lambda: path.exists() and path.read_text().strip() != "")
    return int(path.read_text())


def is_alive(pid: int) -> bool:
    try:
        return " Z " not in Path(f"/proc/{pid}/stat").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return False


def in_scratch(site: Site, script: str) -> Any:
    return site.start("launch", "sh", "-c", f"cd {PREFIX}/run0001; {script}")


class TestLinks:
    @pytest.fixture
    def home(self, site: Site) -> Path:
        home: Path = site.pfs_scratch / "out.txt"
        site.link({"out.txt": str(home)})
        return home

    def test_an_output_is_written_through_its_link(self, site: Site) -> None:
        home = site.pfs_scratch / "deep" / "out.txt"
        site.place({"deep/out.txt": "pfs write"})
        site.link({"deep/out.txt": str(home)})
        done = in_scratch(site, "echo result > deep/out.txt")
        assert (done.returncode, done.stderr) == (0, b"")
        assert (site.scratch / "deep" / "out.txt").is_symlink()
        assert home.read_text() == "result\n"

    def test_a_stray_moves_to_where_it_belongs(self, site: Site, home: Path) -> None:
        """A task that writes a temporary file and renames it replaces the link."""
        done = in_scratch(site, "echo result > tmp; chmod 750 tmp; mv tmp out.txt")
        assert done.returncode == 0
        assert str((site.scratch / "out.txt").readlink()) == str(home)
        assert home.read_text() == "result\n"
        assert home.stat().st_mode & 0o777 == 0o750
        assert names(site.scratch) == ["out.txt"]

    def test_what_a_retry_leaves_takes_the_place_of_an_earlier_folder(
        self, site: Site
    ) -> None:
        home = site.pfs_scratch / "results"
        site.link({"results": str(home)})
        for content in ("first", "second, longer"):
            write = f"rm results; mkdir results; echo {content} > results/a"
            done = in_scratch(site, write)
            assert (done.returncode, names(home)) == (0, ["a"]), done.stderr
            assert (home / "a").read_text() == f"{content}\n"
        assert names(site.pfs_scratch) == ["results"]
        assert names(site.scratch) == ["results"]

    def test_a_stray_of_a_killed_attempt_moves_before_the_next(
        self, site: Site, home: Path
    ) -> None:
        (site.scratch / "out.txt").write_text("left behind")
        done = site.start("launch", "cat", f"{PREFIX}/run0001/out.txt")
        assert done.stdout == b"left behind"
        assert home.read_text() == "left behind"
        assert (site.scratch / "out.txt").is_symlink()

    def test_a_task_that_rewrites_its_input_never_changes_the_original(
        self, site: Site
    ) -> None:
        original = site.pfs / "archive.dat"
        original.write_text("the user's own")
        site.place({"archive.dat": "pfs link"})
        site.link({"archive.dat": str(original)})
        for _ in "first", "retry":
            done = in_scratch(site, "echo mine > new; mv new archive.dat")
            assert done.returncode == 0
        assert original.read_text() == "the user's own"
        assert (site.scratch / "archive.dat").read_text() == "mine\n"

    @pytest.mark.parametrize("lfn", ["moved", "out.txt", "tree"])
    def test_an_output_that_is_a_link_to_an_input_has_bytes_of_its_own(
        self, site: Site, lfn: str
    ) -> None:
        """The clean-up of the input removes what it leads to."""
        site.pfs_scratch.mkdir(parents=True, exist_ok=True)
        (site.pfs_scratch / "in.txt").write_text("input")
        (site.pfs_scratch / "folder").mkdir()
        (site.pfs_scratch / "folder/file").write_text("input")
        for name in ("in.txt", "folder"):
            (site.scratch / name).unlink(missing_ok=True)
            (site.scratch / name).symlink_to(site.pfs_scratch / name)
        home = site.pfs_scratch / "out.txt"
        planned = {
            name: f"{PREFIX}/run0001/{name}" for name in ("moved", "out.txt", "tree")
        }
        site.link({"out.txt": str(home)}, outputs=planned)
        task = "mv folder tree" if lfn == "tree" else f"rm -f {lfn}; mv in.txt {lfn}"
        done = in_scratch(site, task)
        assert done.returncode == 0, done.stderr
        shutil.rmtree(site.pfs_scratch / "folder")
        (site.pfs_scratch / "in.txt").unlink()
        made = site.scratch / lfn / "file" if lfn == "tree" else site.scratch / lfn
        assert made.read_text() == "input"
        assert (site.scratch / "out.txt").readlink() == home

    def test_a_stray_that_cannot_move_fails_the_job_and_stays(
        self, site: Site, home: Path
    ) -> None:
        done = in_scratch(site, f"echo 1 > t; mv t out.txt; mkdir -p {home}/in")
        assert done.returncode == 1
        assert b"out.txt: stays on the buffer" in done.stderr
        assert (site.scratch / "out.txt").read_text() == "1\n"

    def test_a_stale_link_is_led_to_the_right_file(
        self, site: Site, home: Path
    ) -> None:
        (site.scratch / "out.txt").symlink_to("/nowhere")
        site.start("launch", "true")
        assert str((site.scratch / "out.txt").readlink()) == str(home)

    @pytest.mark.parametrize("lfn", ["a/../../b", "", "sub/out"])
    def test_a_name_that_leads_outside_is_refused(self, site: Site, lfn: str) -> None:
        (site.scratch / "sub").symlink_to(site.pfs)
        site.link({lfn: str(site.pfs_scratch / "x")})
        done = site.start("launch", "touch", "started")
        assert done.returncode == USAGE
        how = b"through a link" if lfn == "sub/out" else b"leads out of the scratch"
        assert how in done.stderr
        assert not (site.root / "started").exists()

    def test_a_job_without_its_node_does_not_start(self, site: Site) -> None:
        site.link({"out.txt": str(site.pfs_scratch / "out.txt")})
        done = site.start("launch", "true", PEGASUS_DAG_JOB_ID="")
        assert done.returncode == USAGE
        assert b"PEGASUS_DAG_JOB_ID" in done.stderr
