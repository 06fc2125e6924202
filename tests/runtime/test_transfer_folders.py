"""mkdir and remove: a run's folders come and go, and nothing else does."""

from __future__ import annotations

import os
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from pegasus_bb.runtime.bind import Binding
from pegasus_bb.runtime.scratch_root import MARK, Roots
from pegasus_bb.runtime.transfers.folder_jobs import Remover, RemoveRefused
from pegasus_bb.runtime.transfers.scratch import Scratch
from pegasus_bb.runtime.transfers.transfer_jobs import Remove, parse_url
from tests.support.forked import ended
from tests.support.job_lists import PREFIX, SCRATCH, Site, do, folder, names, transfer


def remover_of(site: Site) -> Remover:
    """Of a run whose scratch is made, and that has promised nothing."""
    scratch = Scratch({"scratch": SCRATCH}, Binding(PREFIX, str(site.real)))
    roots = Roots("run-1", [scratch.root])
    roots.make(scratch.root)
    return Remover(scratch, roots, [], lambda lfn: "", ["/home/me"])


class TestFolders:
    def test_removing_a_file_removes_what_its_link_leads_to(self, site: Site) -> None:
        site.place({"mid": "pfs write", "ref": "pfs link", "x": "bb write"})
        home = site.pfs_scratch / "mid"
        original = site.pfs / "ref"
        home.parent.mkdir(parents=True)
        for path in (home, original, site.scratch / "x"):
            path.write_text("x")
        (site.scratch / "mid").symlink_to(home)
        (site.scratch / "ref").symlink_to(original)
        jobs = [folder("remove", f"{SCRATCH}/./{lfn}") for lfn in ("mid", "ref", "x")]
        for _ in range(2):  # absent is fine
            ended(do(site, *jobs))
        assert names(site.scratch) == [] == names(site.pfs_scratch)
        assert original.read_text() == "x"

    @pytest.mark.parametrize(
        "what", [PREFIX, f"{SCRATCH}/../..", "submit", "out", "home", "."]
    )
    def test_what_no_job_may_remove(self, site: Site, what: str) -> None:
        site.place({"out.txt": "bb write"}, {"out.txt": str(site.out / "out.txt")})
        (site.root / "home").mkdir()
        path = what if what.startswith("/") else os.path.normpath(site.root / what)
        done = do(
            site,
            folder("remove", path, recursive=True),
            HOME=str(site.root / "home"),
        )
        assert done.returncode == 1
        assert site.bb.exists() and site.out.exists() and site.real.exists()
        assert (site.root / "home").exists()

    @pytest.mark.parametrize("path", ["/", "//", "/tmp", "/./usr", "/usr/..", "/root"])
    def test_no_job_removes_a_folder_of_the_system(
        self, path: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(
            "pegasus_bb.runtime.transfers.folder_jobs.remove_tree", pytest.fail
        )
        remover = Remover(
            Scratch({}, None), Roots("", []), [], lambda lfn: "", ["/home/me"]
        )
        with pytest.raises(RemoveRefused):
            remover.remove(Remove(parse_url(f"file://{path}"), True, {}))

    def test_a_long_list_looks_at_its_folders_once(
        self, site: Site, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        remover = remover_of(site)
        seen: Counter[str] = Counter()
        lstat = os.lstat

        def counted(path: str) -> os.stat_result:
            seen[path] += 1
            return lstat(path)

        monkeypatch.setattr(os, "lstat", counted)
        for number in range(50):
            (site.scratch / f"{number}.txt").write_text("x")
            url = parse_url(f"file://{SCRATCH}/{number}.txt")
            remover.remove(Remove(url, False, {}))
        assert names(site.scratch) == [MARK]
        assert max(seen[str(above)] for above in site.scratch.parents) < 60

    def test_a_folder_that_a_link_has_replaced_meanwhile_is_left_alone(
        self, site: Site
    ) -> None:
        remover = remover_of(site)
        theirs = site.pfs / "theirs"
        for there in (site.scratch / "sub", theirs):
            there.mkdir(parents=True)
            for name in ("a", "b"):
                (there / name).write_text("x")
        remover.remove(Remove(parse_url(f"file://{SCRATCH}/sub/a"), False, {}))
        (site.scratch / "sub").rename(site.scratch / "was")
        (site.scratch / "sub").symlink_to(theirs)
        with pytest.raises(RemoveRefused, match="its folder was replaced meanwhile"):
            remover.remove(Remove(parse_url(f"file://{SCRATCH}/sub/b"), False, {}))
        assert names(theirs) == ["a", "b"]

    def test_without_a_buffer_what_the_run_made_goes_folders_too(
        self, site: Site
    ) -> None:
        scratch = site.pfs / "run0001"
        theirs = site.pfs / "theirs"
        site.plan_without_buffer(scratch)
        ended(do(site, folder("mkdir", scratch)))
        for made in (scratch / "res", theirs / "res"):
            (made / "deep").mkdir(parents=True)
        (scratch / "link").symlink_to(theirs)
        ended(do(site, folder("remove", scratch / "res")))
        assert names(scratch) == [MARK, "link"]
        for outside in (theirs / "res", scratch / "link" / "res"):
            done = do(site, folder("remove", outside))
            assert (done.returncode, names(theirs)) == (1, ["res"])

        (scratch / "res").mkdir()
        (scratch / MARK).write_text("run-1\nanother run\n")
        ended(do(site, folder("remove", scratch / "res")))
        assert (scratch / "res").is_dir()

    def test_a_name_that_leads_outside_is_refused(
        self, site: Site, given: Path
    ) -> None:
        (site.pfs / "deep").mkdir()
        (site.scratch / "sub").symlink_to(site.pfs)
        (site.scratch / "deep").symlink_to(site.pfs / "deep")
        for name in ("../../pfs/in.txt", "sub/in.txt", "deep/../in.txt"):
            path = f"{SCRATCH}/{name}"
            done = do(
                site,
                folder("remove", path),
                transfer("x", "/etc/hostname", path),
                folder("mkdir", f"{path}.d"),
            )
            assert done.returncode == 1
            assert done.stderr.count(b"leads out of the scratch") == 3
        assert given.read_text() == "input data"

    @pytest.mark.parametrize("mark", ["", "uuid of another run"])
    def test_a_folder_that_is_not_this_run_s_alone_is_kept(
        self, site: Site, mark: str
    ) -> None:
        site.place({"x": "bb write"})
        if mark:
            (site.scratch / MARK).write_text(mark)
        (site.scratch / "thesis.txt").write_text("mine")
        ended(do(site, folder("mkdir", SCRATCH)))
        ended(do(site, folder("remove", SCRATCH, recursive=True)))
        assert (site.scratch / "thesis.txt").read_text() == "mine"

    @pytest.mark.parametrize("what", ["file", "folder"])
    def test_the_last_copy_of_a_result_stays(self, site: Site, what: str) -> None:
        dest = site.pfs / "out" / "r.txt"
        site.place({"r.txt": "bb write"}, outputs={"r.txt": str(dest)})
        ended(do(site, folder("mkdir", SCRATCH)))
        (site.scratch / "r.txt").write_text("result")
        path = f"{SCRATCH}/r.txt" if what == "file" else SCRATCH
        removal = folder("remove", path, recursive=what == "folder")
        refused = do(site, removal)
        assert refused.returncode == 1
        assert b"last copy of the result r.txt" in refused.stderr + refused.stdout
        assert (site.scratch / "r.txt").read_text() == "result"

        stage_out = transfer("r.txt", f"{SCRATCH}/r.txt", dest)
        ended(do(site, stage_out))
        ended(do(site, removal))
        assert not (site.scratch / "r.txt").exists()
        assert dest.read_text() == "result"

    def test_a_result_whose_place_cannot_be_seen_keeps_its_copy(
        self, site: Site
    ) -> None:
        site.place({"r": "bb write"}, outputs={"r": "gsiftp://far/r"})
        (site.scratch / "r").write_text("result")
        assert do(site, folder("remove", f"{SCRATCH}/r")).returncode == 1
        assert (site.scratch / "r").exists()

    @pytest.fixture
    def dest(self, site: Site) -> Path:
        """Where a result that is a folder goes."""
        dest: Path = site.out / "tree"
        site.place({"tree": "bb write"}, outputs={"tree": str(dest)})
        (site.scratch / "tree").mkdir()
        return dest

    def stage_out(self, site: Site) -> Any:
        return do(site, transfer("tree", f"{SCRATCH}/tree", site.out / "tree"))

    def test_a_result_that_is_a_folder_goes_again_over_the_run_s_own(
        self, site: Site, dest: Path
    ) -> None:
        for text in ("first try", "second try"):
            (site.scratch / "tree" / "part").write_text(text)
            assert self.stage_out(site).returncode == 0
            assert (dest / "part").read_text() == text

    def test_a_result_never_replaces_a_folder_of_the_user(
        self, site: Site, dest: Path
    ) -> None:
        dest.mkdir()
        (dest / "mine.txt").write_text("only copy")
        (site.scratch / "tree" / "part").write_text("x")
        done = self.stage_out(site)
        assert done.returncode == 1
        assert b"other contents" in done.stderr
        assert names(dest) == ["mine.txt"]

    def test_what_is_no_file_in_its_place_is_named_and_never_opened(
        self, site: Site, dest: Path
    ) -> None:
        odd = dest / "odd"
        clean_up = folder("remove", f"{SCRATCH}/tree", recursive=True)
        for made_before in (True, False):
            if made_before:
                dest.mkdir()
            else:
                assert self.stage_out(site).returncode == 0
            os.mkfifo(odd)
            done = self.stage_out(site) if made_before else do(site, clean_up)
            assert done.returncode == 1
            assert f"{odd}: not a regular file".encode() in done.stderr
            assert odd.exists() and (site.scratch / "tree").is_dir()
            odd.unlink()
