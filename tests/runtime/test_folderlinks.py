"""A result that is a folder needs nothing of the run's scratch once it is out of it."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from pegasus_bb.core.removal import remove
from pegasus_bb.runtime import manifest
from pegasus_bb.runtime.results_guard import ResultsGuard
from pegasus_bb.runtime.scratch_root import MARK
from pegasus_bb.runtime.staging.failures import CopyFailed
from pegasus_bb.runtime.staging.folder_lfns import copy_path, digest_path
from tests.support.forked import ended
from tests.support.job_lists import SCRATCH, Site, do, folder, names, transfer


@pytest.fixture
def scratch(tmp_path: Path) -> Path:
    scratch = tmp_path / "scratch"
    (scratch / "res" / "sub").mkdir(parents=True)
    (scratch / "inter.dat").write_text("intermediate")
    (scratch / "res" / "plain").write_text("x")
    return scratch


def taken_out(scratch: Path) -> Path:
    copy = scratch.parent / "out"
    copied = copy_path(str(scratch / "res"), str(copy), vanishing=[str(scratch)])
    assert copied.digest == digest_path(str(copy))
    scratch.rename(scratch.with_name("gone"))
    return copy


@pytest.mark.parametrize("name", ["sub/rel.dat", "abs.dat"])
def test_what_a_link_into_the_scratch_leads_to_comes_along(
    scratch: Path, name: str
) -> None:
    link = scratch / "res" / name
    inter = scratch / "inter.dat"
    relative = os.path.relpath(inter, link.parent)
    link.symlink_to(inter if name == "abs.dat" else relative)
    copy = taken_out(scratch) / name
    assert not copy.is_symlink()
    assert copy.read_text() == "intermediate"


def test_a_folder_comes_along_as_well_with_what_its_own_links_lead_to(
    scratch: Path,
) -> None:
    (scratch / "inter" / "deep").mkdir(parents=True)
    (scratch / "inter" / "f").write_text("f")
    (scratch / "inter" / "deep" / "again").symlink_to("../../inter.dat")
    (scratch / "inter" / "same").symlink_to("f")
    (scratch / "res" / "all").symlink_to("../inter")
    copy = taken_out(scratch) / "all"
    assert (copy / "deep" / "again").read_text() == "intermediate"
    assert (copy / "same").is_symlink() and (copy / "same").read_text() == "f"


def test_names_of_one_file_stay_names_of_one_file(scratch: Path) -> None:
    plain = scratch / "res" / "plain"
    (scratch / "res" / "sub" / "again").hardlink_to(plain)
    (scratch / "outside").hardlink_to(plain)
    copy = taken_out(scratch)
    assert (copy / "sub" / "again").samefile(copy / "plain")
    assert (copy / "plain").stat().st_nlink == 2


def test_folders_that_lie_too_deep_are_refused(tmp_path: Path) -> None:
    top = tmp_path / "res"
    top.mkdir()
    folder = top
    for _ in range(1500):
        folder /= "d"
        folder.mkdir()
    with pytest.raises(CopyFailed, match="too many folders in each other"):
        copy_path(str(top), str(tmp_path / "out"))
    assert [path.name for path in tmp_path.iterdir()] == ["res"]
    remove(str(top))


def test_a_link_to_what_stays_leads_to_the_same(scratch: Path) -> None:
    reference = scratch.parent / "reference"
    reference.write_text("genome")
    (scratch / "res" / "full").symlink_to(reference)
    (scratch / "res" / "relative").symlink_to("../../reference")
    copy = taken_out(scratch)
    for name in ("full", "relative"):
        assert (copy / name).is_symlink()
        assert (copy / name).resolve() == reference


@pytest.mark.parametrize(
    ("target", "words"),
    [
        ("../nowhere", "res/link: is a link that leads nowhere"),
        ("link", "res/link: is a link that leads nowhere"),
        ("..", "no end"),
        ("../inter", "no end"),
    ],
)
def test_a_link_to_nothing_or_without_end_is_refused_by_name(
    scratch: Path, target: str, words: str
) -> None:
    (scratch / "inter").mkdir()
    (scratch / "inter" / "back").symlink_to("../res")
    (scratch / "res" / "link").symlink_to(target)
    with pytest.raises(CopyFailed, match=words):
        taken_out(scratch)
    assert names(scratch.parent) == ["scratch"]


def make_result(scratch: Path) -> None:
    (scratch / "inter.dat").write_text("intermediate")
    (scratch / "res").mkdir()
    (scratch / "res" / "rel.dat").symlink_to("../inter.dat")
    (scratch / "res" / "abs.dat").symlink_to(scratch / "inter.dat")


@pytest.mark.parametrize("buffer", [True, False])
def test_stage_out_and_the_guard_agree(site: Site, buffer: bool) -> None:
    dest = site.out / "res"
    scratch = site.scratch
    site.place({"res": "bb write"}, outputs={"res": str(dest)})
    if not buffer:
        scratch = site.pfs / "run0001"
        site.plan_without_buffer(scratch)
    planned = SCRATCH if buffer else str(scratch)
    ended(do(site, folder("mkdir", planned)))
    assert names(scratch) == [MARK]
    make_result(scratch)
    ended(do(site, transfer("res", f"{planned}/res", dest)))
    ended(do(site, folder("remove", planned, recursive=True)))
    assert [path.read_text() for path in dest.iterdir()] == ["intermediate"] * 2
    if buffer:
        assert not list(ResultsGuard(site.bbdir, read_all=True).unsafe())
        noted = manifest.read(site.bbdir.file("manifest.jsonl"), site.request.uuid)
        assert noted["res"]["digest"] == digest_path(str(dest))
