"""An input that several jobs read comes once to a node, and nothing can spoil it."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.forked import ended
from tests.support.job_reservation_site import NODE, JobSite

INPUT = b"ACGT" * 50_000
CODE = (b"input_cache", b"cache_folder", b"cached_copy", b"private_inputs")
READ = "cat in.dat > out.txt; echo x > sub/more.txt; echo y > pfs-out.txt"


@pytest.fixture
def node(tmp_path: Path) -> JobSite:
    """A job that reads in.dat, as others do."""
    site = JobSite(tmp_path, "node-local")
    site.fast.chmod(0o755)
    (site.scratch / "in.dat").write_bytes(INPUT)
    site.reserve(stage_in=["in.dat"], shared={"in.dat": ""})
    site.declare(cache="1MiB")
    return site


def cache(site: JobSite) -> Path:
    return site.fast / f"pegasus_bb-cache.{os.uname().nodename}.{os.geteuid()}"


def entries(site: JobSite) -> list[Path]:
    """The copies in the cache."""
    return [path for path in cache(site).rglob("*.dat") if path.is_file()]


def counts(site: JobSite, node: str = NODE) -> tuple[int, int]:
    """How many inputs the job has found in the cache, and brought into it."""
    note = json.loads((site.bb / "stage_out" / f"{node}.json").read_text())
    return note["cached"], note["brought"]


def result(site: JobSite) -> bytes:
    return (site.landing / "out.txt").read_bytes()


class TestHits:
    def test_the_second_job_finds_what_the_first_has_brought(
        self, node: JobSite
    ) -> None:
        ended(node.launch(READ))
        assert (counts(node), node.note["brought_bytes"]) == ((0, 1), len(INPUT))
        done = node.launch(f"readlink in.dat; stat -Lc %a in.dat; {READ}")
        assert (done.returncode, done.stderr) == (0, b"")
        (copy,) = entries(node)
        path, mode = done.stdout.decode().split()
        assert (path, mode[-3:]) == (str(copy), "444")
        assert (counts(node), node.note["cached_bytes"]) == ((1, 0), len(INPUT))
        assert result(node) == INPUT
        assert cache(node).stat().st_mode & 0o777 == 0o700
        assert [path.name for path in node.fast.iterdir()] == [cache(node).name]

    def test_eight_tasks_on_four_nodes_bring_it_four_times(self, node: JobSite) -> None:
        node.declare(cache="1MiB", path="$LOCAL_SCRATCH")
        disks = [node.fast / f"node{number}" for number in range(4)]
        for disk in disks:
            disk.mkdir(mode=0o755)
        names = [f"work_ID{n}" for n in range(8)]
        jobs = []
        for name, disk in zip(names, disks * 2, strict=True):
            shutil.copy(node.bb / f"nodes/{NODE}.json", node.bb / f"nodes/{name}.json")
            own = {"PEGASUS_DAG_JOB_ID": name, "LOCAL_SCRATCH": str(disk)}
            jobs.append(node.start(f"{READ}; sleep 0.3", **own))
        for job in jobs:
            assert job.wait(120) == 0
        found = [counts(node, name) for name in names]
        assert sorted(found) == [(0, 1)] * 4 + [(1, 0)] * 4
        results = list((node.scratch / ".pegasus_bb_landing").glob("*/*/out.txt"))
        assert [path.read_bytes() for path in results] == [INPUT] * 8

    def test_an_input_that_changed_is_another_one(self, node: JobSite) -> None:
        ended(node.launch(READ))
        source = node.scratch / "in.dat"
        before = source.stat()
        source.write_bytes(INPUT.lower())
        os.utime(source, ns=(before.st_atime_ns, before.st_mtime_ns))
        ended(node.launch(READ))
        assert (counts(node), result(node)) == ((0, 1), INPUT.lower())

    def test_folders_and_other_inputs_are_copied_as_ever(self, node: JobSite) -> None:
        (node.scratch / "folder").mkdir()
        (node.scratch / "folder" / "a").write_text("a")
        shared = {"in.dat": "", "folder": ""}
        node.reserve(stage_in=["in.dat", "in.txt", "folder"], shared=shared)
        ended(node.launch(f"echo b >> in.txt; echo b > folder/b; {READ}"))
        assert counts(node) == (0, 1)
        assert [p.name for p in (node.scratch / "folder").iterdir()] == ["a"]

    def test_a_container_sees_it(self, node: JobSite) -> None:
        done = node.launch(f"echo $PEGASUS_BB_FOLDERS; {READ}")
        assert str(cache(node)) in done.stdout.decode().strip().split(":")

    def test_without_the_key_the_code_is_not_even_loaded(self, node: JobSite) -> None:
        node.reserve(shared={})
        node.install()
        program = str(node.bb / "bin" / "launch")
        words = [sys.executable, "-IS", "-X", "importtime", program, "sh", "-c", READ]
        environ = {**os.environ, "PEGASUS_DAG_JOB_ID": NODE, "CONDOR_JOBID": "7.0"}
        done = subprocess.run(words, env=environ, cwd=node.scratch, capture_output=True)
        ended(done)
        assert b"job_reservation.disk" in done.stderr
        assert [word for word in CODE if word in done.stderr] == []
        assert not cache(node).exists()
        assert "cached" not in node.note


class TestDamage:
    def test_a_copy_that_was_changed_is_brought_anew(self, node: JobSite) -> None:
        ended(node.launch(READ))
        (copy,) = entries(node)
        before = copy.stat()
        copy.chmod(0o644)
        copy.write_bytes(INPUT.lower())
        copy.chmod(before.st_mode)
        os.utime(copy, ns=(before.st_atime_ns, before.st_mtime_ns))
        ended(node.launch(READ))
        assert (counts(node), result(node)) == ((0, 1), INPUT)
        assert [path.read_bytes() for path in entries(node)] == [INPUT]

    @pytest.mark.parametrize("harm", ["unlink", "cut", "note", "empty"])
    def test_any_other_harm_is_repaired(self, node: JobSite, harm: str) -> None:
        ended(node.launch(READ))
        (copy,) = entries(node)
        copy.parent.joinpath(".note").write_text("{") if harm == "note" else None
        os.truncate(copy, 5) if harm == "cut" else None
        copy.unlink() if harm in ("unlink", "empty") else None
        copy.parent.joinpath(".note").unlink() if harm == "empty" else None
        ended(node.launch(READ))
        assert (counts(node), result(node)) == ((0, 1), INPUT)

    def test_a_task_that_writes_into_it_fails_and_its_next_try_has_copies(
        self, node: JobSite
    ) -> None:
        writes = f"chmod u+w in.dat; echo more >> in.dat; {READ}"
        done = node.launch(writes)
        assert done.returncode == 1
        assert b"in.dat: the task has changed its input in place" in done.stderr
        assert b"bb.inputs: copy" in done.stderr
        assert (node.note["status"], entries(node)) == (1, [])
        done = node.launch(writes, CONDOR_JOBID="8.0")
        assert (done.returncode, done.stderr) == (0, b"")
        landed = node.scratch / ".pegasus_bb_landing" / NODE / "8.0" / "out.txt"
        assert landed.read_bytes() == INPUT + b"more\n"
        assert (node.scratch / "in.dat").read_bytes() == INPUT

    def test_a_copy_that_was_touched_or_has_another_name_is_used_on(
        self, node: JobSite
    ) -> None:
        ended(node.launch(f"touch in.dat; ln -L in.dat sub/name; {READ}"))
        done = node.launch(READ)
        assert (done.returncode, done.stderr) == (0, b"")
        assert (counts(node), result(node)) == ((1, 0), INPUT)

    def test_a_declared_digest_is_compared_with_the_bytes_as_brought(
        self, node: JobSite
    ) -> None:
        node.reserve(shared={"in.dat": "sha256:" + "0" * 64})
        done = node.launch(READ)
        assert done.returncode != 0
        assert b"but the catalog declares sha256:0000" in done.stderr
        assert entries(node) == []

    def test_a_result_that_is_a_copy_of_it_can_be_written_again(
        self, node: JobSite
    ) -> None:
        (node.scratch / "in.dat").chmod(0o644)
        ended(node.launch(READ.replace("cat in.dat >", "cp in.dat")))
        assert (node.landing / "out.txt").stat().st_mode & 0o777 == 0o644

    def test_a_folder_of_results_has_no_link_into_it(self, node: JobSite) -> None:
        ended(node.launch(f"{READ}; rm out.txt; mkdir out.txt; mv in.dat out.txt/x"))
        found = node.landing / "out.txt" / "x"
        assert (found.is_symlink(), found.read_bytes()) == (False, INPUT)


class TestWhoseFolder:
    def refuses(self, site: JobSite, words: str) -> None:
        """Its job brings the input itself, and says why."""
        done = site.launch(f"stat -c %F in.dat; {READ}")
        assert (done.returncode, done.stdout) == (0, b"regular file\n"), done.stderr
        assert words.encode() in done.stderr
        assert b"without the cache of its node" in done.stderr
        assert result(site) == INPUT

    def test_one_of_another_user_is_not_used(self, node: JobSite) -> None:
        if os.geteuid() != 0:
            pytest.skip("only root makes another user's folder")
        cache(node).mkdir(mode=0o700)
        os.chown(cache(node), 1000, 1000)
        self.refuses(node, f"{cache(node)}: it is another user's")

    def test_one_that_is_open_to_others_is_not_used(self, node: JobSite) -> None:
        cache(node).mkdir()
        cache(node).chmod(0o750)
        self.refuses(node, f"{cache(node)}: it is open to other users")

    def test_a_link_is_not_used(self, node: JobSite, tmp_path: Path) -> None:
        own = tmp_path / "own"
        own.mkdir(mode=0o700)
        cache(node).symlink_to(own)
        self.refuses(node, str(cache(node)))
        assert list(own.iterdir()) == []

    def test_a_disk_where_others_may_rename_it_is_not_used(self, node: JobSite) -> None:
        node.fast.chmod(0o777)
        self.refuses(node, f"{node.fast}: other users may rename")
        node.fast.chmod(0o1777)
        ended(node.launch(READ))
        assert counts(node) == (0, 1)
