"""Files reach the place that the placement gives them, whole, or the list says why."""

from __future__ import annotations

import json
import os
from pathlib import Path

from pegasus_bb.core.paths import cut_name
from pegasus_bb.runtime import manifest
from tests.support.forked import ended
from tests.support.job_lists import PREFIX, SCRATCH, Site, do, folder, names, transfer


class TestStageIn:
    def test_a_link_inside_the_buffer_survives_another_mount(self, site: Site) -> None:
        (site.real / "outer").mkdir()
        (site.real / "outer" / "mid.txt").write_text("made by the outer workflow")
        made = f"{PREFIX}/outer/mid.txt"
        do(site, transfer("mid.txt", made, f"symlink://{SCRATCH}/deep/mid.txt"))
        site.real.rename(site.fast / "seen-by-another-job")
        seen = site.fast / "seen-by-another-job" / site.scratch.name / "deep"
        assert (seen / "mid.txt").read_text() == "made by the outer workflow"

    def test_the_second_source_serves_where_the_first_does_not(
        self, site: Site, given: Path
    ) -> None:
        job = transfer("in.txt", [site.pfs / "gone", given], f"{SCRATCH}/in.txt")
        ended(do(site, job))
        assert (site.scratch / "in.txt").read_text() == "input data"

    def test_two_paths_to_one_place_are_done_in_their_order(
        self, site: Site, given: Path
    ) -> None:
        (site.pfs / "later").write_text("the last one wins")
        (site.pfs / "real").mkdir()
        (site.pfs / "link").symlink_to("real")
        ended(
            do(
                site,
                transfer("a", given, site.pfs / "real" / "f"),
                transfer("b", site.pfs / "later", site.pfs / "link" / "f"),
            )
        )
        assert (site.pfs / "real" / "f").read_text() == "the last one wins"

    def test_what_a_killed_attempt_left_makes_room(
        self, site: Site, given: Path
    ) -> None:
        long = "n" * 255
        cut = os.fsdecode(cut_name(long))
        for name in (".in.txt.99999999.0a1b2c.part", f".{cut}.99999999.0a1b2c.part"):
            (site.scratch / name).write_text("half")
        for kept in (".other.99999999.0a1b2c.part", ".in.txt.mine.part"):
            (site.scratch / kept).write_text("another's")
        do(
            site,
            transfer("in.txt", given, f"{SCRATCH}/in.txt"),
            transfer(long, given, f"{SCRATCH}/{long}"),
        )
        left = [".in.txt.mine.part", ".other.99999999.0a1b2c.part", "in.txt", long]
        assert names(site.scratch) == left

    def test_a_hostile_name_is_only_a_name(self, site: Site, hostile: str) -> None:
        site.place({hostile: "pfs link"})
        (site.pfs / hostile).write_text("data")
        ended(do(site, transfer(hostile, site.pfs / hostile, f"{SCRATCH}/{hostile}")))
        assert (site.scratch / hostile).read_text() == "data"
        assert names(site.scratch) == [hostile]
        assert not (site.root / "PWNED").exists()


class TestStageOut:
    def test_a_result_behind_a_link_leaves_as_content(self, site: Site) -> None:
        dest = site.out / "out.txt"
        site.place({"out.txt": "pfs write"}, {"out.txt": str(dest)})
        home = site.pfs_scratch / "out.txt"
        home.parent.mkdir(parents=True)
        home.write_text("result")
        (site.scratch / "out.txt").symlink_to(home)
        do(site, transfer("out.txt", f"{SCRATCH}/out.txt", dest))
        assert dest.read_text() == "result" and not dest.is_symlink()
        assert "out.txt" in manifest.read(str(site.bb / "manifest.jsonl"), "run-1")

    def test_a_copy_elsewhere_is_no_promise_kept(self, site: Site) -> None:
        site.place({"out.txt": "bb write"}, {"out.txt": str(site.out / "out.txt")})
        (site.scratch / "out.txt").write_text("result")
        do(site, transfer("out.txt", f"{SCRATCH}/out.txt", site.out / "elsewhere"))
        assert manifest.read(str(site.bb / "manifest.jsonl"), "run-1") == {}


class TestWithoutABuffer:
    def test_mode_off_copies_with_the_same_safety(
        self, site: Site, given: Path
    ) -> None:
        for name in ("request.json", "placement.json"):
            (site.bb / name).unlink()
        (site.out / "in.txt").symlink_to("/etc/hostname")
        job = transfer("in.txt", given, site.out / "in.txt")
        done = site.start("transfer", stdin=json.dumps([job]))
        assert done.returncode == 0
        assert not (site.out / "in.txt").is_symlink()
        assert not (site.bb / "manifest.jsonl").exists()

    def test_where_it_is_not_mounted_other_jobs_still_work(
        self, site_without_reservation: Site
    ) -> None:
        site = site_without_reservation
        (site.pfs / "f").write_text("x")
        jobs = [
            transfer("f", site.pfs / "f", site.out / "f"),
            transfer("g", site.pfs / "f", f"{SCRATCH}/g"),
            folder("mkdir", f"{SCRATCH}/d"),
        ]
        done = site.start("transfer", stdin=json.dumps(jobs))
        assert done.returncode == 1
        assert done.stderr.count(b"burst buffer, which is not here") == 2
        assert (site.out / "f").read_text() == "x"
        assert not Path(PREFIX).exists()


class TestOptions:
    def test_pegasus_transfer_s_are_known(self, site: Site) -> None:
        options = ["--threads=3", "-n", "1", "-m", "2", "-d", "-s"]
        assert site.start("transfer", *options, stdin="[]").returncode == 0
