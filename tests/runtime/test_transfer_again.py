"""A stage-out that came halfway: the next try brings what is missing, and only that."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest

from pegasus_bb.runtime.scratch_root import Roots
from pegasus_bb.runtime.staging.items import Item, Outcome
from pegasus_bb.runtime.staging.mover import Mover
from pegasus_bb.runtime.transfers import copies
from pegasus_bb.runtime.transfers.transfer_jobs import Transfer, read_jobs
from pegasus_bb.runtime.transfers.transfer_methods import Try, Way
from tests.support.job_lists import SCRATCH, Site, do, names, transfer

RESULTS = [f"out{number}" for number in range(40)]


def stage_out(site: Site) -> tuple[int, str]:
    jobs = [transfer(lfn, f"{SCRATCH}/{lfn}", site.out / lfn) for lfn in RESULTS]
    done = do(site, *jobs)
    return done.returncode, done.stderr.decode()


def make_results(site: Site) -> None:
    site.place({}, {lfn: str(site.out / lfn) for lfn in RESULTS})
    for lfn in RESULTS:
        (site.scratch / lfn).write_text(f"{lfn} 1")


def test_only_what_is_missing_is_copied_again(site: Site) -> None:
    make_results(site)
    (site.scratch / "out7").unlink()
    status, said = stage_out(site)
    assert status == 1 and "out7: is not there" in said
    before = {lfn: (site.out / lfn).stat().st_ino for lfn in RESULTS if lfn != "out7"}
    (site.scratch / "out7").write_text("out7 1")
    assert stage_out(site) == (0, "")
    assert (site.out / "out7").read_text() == "out7 1"
    assert {lfn: (site.out / lfn).stat().st_ino for lfn in before} == before


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


def there_when_bytes_move(
    site: Site, monkeypatch: pytest.MonkeyPatch, source: Path, target: Path
) -> bool:
    seen: list[bool] = []

    class Seeing(Mover):
        def move(self, items: Iterable[Item]) -> Iterator[Outcome]:
            listed = list(items)
            seen.append(target.exists())
            return super().move(listed)

    monkeypatch.setattr(copies, "Mover", Seeing)
    (job,) = read_jobs(json.dumps([transfer("in", source, target)]))
    assert isinstance(job, Transfer)
    way = Way(Try(job, ()), str(source), str(target), str(target), promised=False)
    some = copies.Copies(Roots("", []), [str(site.real)], "", "")
    assert [error for _, _, error in some.copy([way])] == [None]
    assert target.read_text() == source.read_text()
    return seen == [True]


@pytest.mark.parametrize("where", ["scratch", "out"])
def test_the_older_takes_no_room_on_the_buffer_and_stays_elsewhere(
    site: Site, monkeypatch: pytest.MonkeyPatch, where: str
) -> None:
    """Rescheduled it stays until the newer is whole."""
    source, target = site.pfs / "in", getattr(site, where) / "in"
    source.write_text("an input")
    target.write_text("an input" if where == "scratch" else "as it was")
    stays = there_when_bytes_move(site, monkeypatch, source, target)
    assert stays is (where == "out")


def test_what_has_no_source_is_not_removed(site: Site) -> None:
    (site.scratch / "in").write_text("an input")
    done = do(site, transfer("in", site.pfs / "in", f"{SCRATCH}/in"))
    assert done.returncode == 1
    assert (site.scratch / "in").read_text() == "an input"


def test_every_job_of_the_list_is_answered(site: Site) -> None:
    for name in "ab":
        (site.pfs / name).write_text(f"from {name}")
    jobs = [transfer("in", site.pfs / name, f"{SCRATCH}/in") for name in "aaabba"]
    done = do(site, *jobs)
    assert done.returncode == 0, done.stderr
    assert b"6 of 6 jobs" in done.stdout
    assert (site.scratch / "in").read_text() == "from a"
    assert names(site.scratch) == ["in"]


def test_alike_and_without_a_source_each_goes_its_own_way(site: Site) -> None:
    (site.pfs / "second").write_text("there")
    none = site.pfs / "none"
    none.mkdir()
    done = do(
        site,
        transfer("in", [none, site.pfs / "second"], f"{SCRATCH}/in"),
        transfer("in", none / "x", f"{SCRATCH}/in"),
    )
    assert done.returncode == 1 and b"1 of 2 jobs" in done.stdout
