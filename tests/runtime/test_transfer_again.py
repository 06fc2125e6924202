"""A stage-out that came halfway: the next try brings what is missing, and only that."""

from __future__ import annotations

import os

import pytest

from pegasus_bb.runtime import manifest
from tests.support.job_lists import SCRATCH, Site, do, transfer

RESULTS = [f"out{number}" for number in range(40)]


def stage_out(site: Site) -> tuple[int, str]:
    jobs = [transfer(lfn, f"{SCRATCH}/{lfn}", site.out / lfn) for lfn in RESULTS]
    done = do(site, *jobs)
    return done.returncode, done.stderr.decode()


def noted(site: Site) -> set[str]:
    return set(manifest.read(str(site.bb / "manifest.jsonl"), "run-1"))


def make_results(site: Site) -> None:
    site.place({}, {lfn: str(site.out / lfn) for lfn in RESULTS})
    for lfn in RESULTS:
        (site.scratch / lfn).write_text(f"{lfn} 1")


def test_only_what_is_missing_is_copied_again(site: Site) -> None:
    make_results(site)
    (site.scratch / "out7").unlink()
    status, said = stage_out(site)
    assert status == 1 and "out7: is not there" in said
    before = {path: path.stat().st_ino for path in site.out.iterdir()}
    arrived = {path.name for path in before}
    assert noted(site) == arrived == {*RESULTS} - {"out7"}
    (site.scratch / "out7").write_text("out7 1")
    assert stage_out(site) == (0, "")
    assert (site.out / "out7").read_text() == "out7 1"
    assert {path: path.stat().st_ino for path in before} == before
    assert noted(site) == {*RESULTS}


@pytest.mark.parametrize("where", ["scratch", "out"])
def test_what_has_changed_on_either_side_is(site: Site, where: str) -> None:
    make_results(site)
    stage_out(site)
    changed = getattr(site, where) / "out3"
    times = changed.stat()
    changed.write_text("out3 2")  # as long, and as old as ever
    os.utime(changed, ns=(times.st_atime_ns, times.st_mtime_ns))
    assert stage_out(site) == (0, "")
    assert (site.out / "out3").read_text() == (site.scratch / "out3").read_text()


def test_what_has_no_source_is_not_removed(site: Site) -> None:
    (site.scratch / "in").write_text("an input")
    done = do(site, transfer("in", site.pfs / "in", f"{SCRATCH}/in"))
    assert done.returncode == 1
    assert (site.scratch / "in").read_text() == "an input"
