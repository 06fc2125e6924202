"""A task that refuses to write to a link fails, and its user learns why."""

from __future__ import annotations

import pytest

from tests.support.job_lists import SCRATCH, Site

OUT = f"{SCRATCH}/out.txt"


@pytest.fixture(autouse=True)
def links(site: Site) -> None:
    (site.pfs / "in.txt").write_text("input")
    site.link(
        {
            "out.txt": str(site.pfs_scratch / "out.txt"),
            "log.txt": str(site.pfs_scratch / "log.txt"),
            "in.txt": str(site.pfs / "in.txt"),
        }
    )


@pytest.mark.parametrize(
    "task",
    [
        f"echo x > {SCRATCH}/log.txt; cp /etc/hostname {OUT}",
        f"echo x > {SCRATCH}/log.txt; set -C; echo x > {OUT}",
        f"echo x > {SCRATCH}/log.txt; mkdir {OUT}",
    ],
)
def test_the_outputs_that_are_links_to_nothing_are_named(site: Site, task: str) -> None:
    done = site.start("launch", "sh", "-c", task)
    assert done.returncode != 0
    assert b"launch: out.txt: not made. Each was a link to the PFS" in done.stderr
    assert b"`tier: bb`" in done.stderr
