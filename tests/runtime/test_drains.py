"""What a transfer makes of bb/drain.json."""

from __future__ import annotations

import json
import os
import time
from pathlib import Path
from typing import Any

import pytest

from pegasus_bb.runtime.bbdir import BBDir
from pegasus_bb.runtime.transfers.drain_transfers import Drains
from pegasus_bb.runtime.transfers.transfer_jobs import Transfer
from pegasus_bb.runtime.transfers.transfer_methods import Try, Way
from tests.support.forked import ended
from tests.support.job_lists import SCRATCH, do, transfer
from tests.support.run_site import Site

MIB = 1 << 20
NODE = "stage_out_1"
NOTE: dict[str, Any] = {
    "version": 1,
    "run": "uuid",
    "rate": 0,
    "target": None,
    "slack": 0.0,
    "aim": 1.0,
    "gate": 100.0,
    "end": 1100.0,
    "windows": {NODE: [600.0, 600.0, 1100.0], "last": [1100.0, 1100.0, 1100.0]},
}


@pytest.fixture
def bb(tmp_path: Path) -> BBDir:
    (tmp_path / "bb").mkdir()
    return BBDir(str(tmp_path / "bb"))


def drains(bb: BBDir, node: str = NODE, **changes: Any) -> Drains:
    Path(bb.file("drain.json")).write_text(json.dumps({**NOTE, **changes}))
    return Drains(bb, ["/bb/run", "/flash/long/run"], node)


def opened(bb: BBDir, seconds: float) -> None:
    """The gate opened so long ago."""
    ready = Path(bb.file("ready.json"))
    ready.write_text("{}")
    then = time.time() - seconds
    os.utime(ready, (then, then))


def way(source: str, target: str) -> Way:
    job = Transfer("lfn", (), (), False, {})
    return Way(Try(job, ()), source, target, target, True)


def test_only_what_leaves_the_tier_is_paced(bb: BBDir) -> None:
    found = drains(bb)
    assert found.leaves(way("/bb/run/r", "/lus/out/r"))
    assert found.leaves(way("/flash/long/run/r", "/lus/out/r"))  # from a pool
    assert not found.leaves(way("/bb/run/r", "/flash/long/run/r"))
    assert not found.leaves(way("/lus/in", "/bb/run/in"))
    assert not found.leaves(way("/bb/run/a", "/bb/run/b"))
    assert not found.leaves(way("/lus/a", "/lus/b"))
    assert not Drains(bb, [], NODE).leaves(way("/bb/run/r", "/lus/out/r"))


@pytest.mark.parametrize(
    ("elapsed", "seconds"), [(500, 500), (750, 750), (250, 250), (1, 250), (9e6, 1000)]
)
def test_the_time_that_is_left_is_corrected_by_what_has_passed(
    bb: BBDir, elapsed: float, seconds: float
) -> None:
    """500 s are planned before the job and after it; corrected at most twofold."""
    opened(bb, elapsed)
    wait, left = drains(bb)._times()
    assert (wait, left) == (0.0, pytest.approx(seconds, rel=0.01))


def test_the_last_results_have_no_time_but_the_slack(bb: BBDir) -> None:
    assert drains(bb, "last")._times() == (0, 0)
    assert drains(bb, "not planned")._times() == (0, 0)
    assert drains(bb, "not planned", slack=0.1)._times() == (0, pytest.approx(110))


def test_the_staging_service_hears_the_rate_of_all_together(
    bb: BBDir, tmp_path: Path
) -> None:
    """Of the run, or so that this job's results are safe in time; the lowest counts."""
    (tmp_path / "r").write_bytes(bytes(900))
    ways = [way(f"{tmp_path}/r", "/lus/r"), way("/lus/in", f"{tmp_path}/in")]
    target = {"name": "pfs", "limit": 1.5, "curve": None, "registry": "/lus/drain"}
    opened(bb, 500)

    def told(node: str = NODE, **changes: Any) -> dict[str, Any]:
        found = drains(bb, node, **changes)
        found._tier = [str(tmp_path)]
        spec = found.spec(ways)
        spec.pop("deadline", None)
        return spec

    assert told(rate=MIB) == {"rate": MIB, "share": "uuid"}
    paced = {"rate": pytest.approx(1.8, rel=0.01), "share": f"uuid {NODE}"}
    assert told() == paced
    assert told(target=target) == {"rate": 1.5, "share": "uuid"}
    assert told("last", target=target) == {"rate": 1.5, "share": "uuid"}
    assert told("last") == {}


@pytest.mark.parametrize(
    "text",
    ["[", "null", json.dumps({**NOTE, "rate": 9, "windows": []})],
)
def test_a_damaged_note_means_full_speed_and_a_word(site: Site, text: str) -> None:
    (site.bb / "drain.json").write_text(text)
    (site.scratch / "r").write_bytes(b"result")
    site.place({}, {"r": str(site.out / "r")})
    done = do(site, transfer("r", f"{SCRATCH}/r", site.out / "r"))
    ended(done)
    assert (site.out / "r").read_bytes() == b"result"
    assert b"full speed" in done.stderr


def test_results_are_paced_and_folders_too(site: Site) -> None:
    (site.bb / "drain.json").write_text(json.dumps({**NOTE, "rate": 64 * MIB}))
    (site.scratch / "many").mkdir()
    (site.scratch / "many" / "one").write_bytes(os.urandom(1000))
    (site.scratch / "r").write_bytes(os.urandom(2000))
    site.place({}, {lfn: str(site.out / lfn) for lfn in ("r", "many")})
    jobs = [transfer(n, f"{SCRATCH}/{n}", site.out / n) for n in ("r", "many")]
    ended(do(site, *jobs))
    (log,) = (site.bb / "drain").glob("*.jsonl")
    sizes = [json.loads(line)[2] for line in log.read_text().splitlines()]
    assert sorted(sizes) == [1000, 2000]
    assert not list((site.bb / "drain").glob("*.lease"))
