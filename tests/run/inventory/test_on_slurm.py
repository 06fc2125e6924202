"""ls and gc where Slurm holds the buffers: recorded text, and a fake one that acts."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner

from pegasus_bb.cli.release import command as release
from pegasus_bb.core.errors import PegasusBBError, ReservationFailed
from pegasus_bb.core.units import MIB
from pegasus_bb.model.reservation import Request
from pegasus_bb.run.inventory.leftovers import leftovers
from pegasus_bb.run.inventory.listing import list_reservations
from pegasus_bb.run.inventory.run_state import ReservationRecord
from tests.run.inventory.conftest import OneRun, Runs
from tests.runtime.backends.test_listing_many import RECORDED, recorded
from tests.support.datawarp_bench import DataWarpBench, bench, play

__all__ = ["bench", "recorded"]
DOWN = RECORDED / "show-burst.controller-down.txt"


def on_slurm(runs: Runs, name: str) -> OneRun:
    run = runs.run(name, timeout="0", poll="0", mount="any")
    run.request = run.request._replace(backend="datawarp")
    run.change()
    return run


def up(runs: Runs, name: str) -> OneRun:
    run = on_slurm(runs, name)
    run.begins()
    assert run.gate() == 0
    return run


def note_asked(runs: Runs, name: str, size: int) -> None:
    request = Request(name, "datawarp", size, f"/bb/{name}", "1", "bb", "cori")
    line = {"uuid": "1", "submit_dir": "/gone", "host": "login3"}
    line |= {"name": name, "backend": "datawarp", "request": request.to_json()}
    runs.note(**line, size=size)


def released(*arguments: str) -> str:
    return CliRunner().invoke(release, arguments, catch_exceptions=False).output


def shown() -> dict[str, ReservationRecord]:
    return {record.name: record for record in list_reservations()}


def test_recorded_rows_join_the_lines_of_the_ledger(
    runs: Runs, recorded: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("os.getuid", lambda: 1000)
    note_asked(runs, "csb", 700 * MIB)
    note_asked(runs, "pbbgone", 5 * MIB)
    found = shown()
    assert (found["csb"].state, found["csb"].size) == ("ready", 700 * MIB)
    assert found["csb"].message == "allocated in pool wlm_pool"
    assert "planned on host login3" in found["csb"].run_words
    assert found["pbbgone"].state == "absent"
    assert (found["csb2"].on_ledger, found["csb2"].state) == (False, "ready")
    assert not any(one.goes for one in leftovers())


def test_with_the_controller_down_all_is_unknown(
    runs: Runs, recorded: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    words = next(line for line in DOWN.read_text().splitlines() if "slurm_load" in line)
    play("scontrol", f"echo '{words}' >&2; exit 1", recorded.parent, monkeypatch)
    note_asked(runs, "csb", 5)
    [found] = list_reservations()
    assert found.state == "unknown"
    assert "Unable to contact slurm" in found.message
    [verdict] = leftovers()
    assert (verdict.goes, "Unable to contact slurm" in verdict.why) == (False, True)


@pytest.mark.parametrize("trouble", ["unread", "down", "no plugin"])
def test_discarding_what_slurm_does_not_tell_of_has_a_way_on(
    runs: Runs, bench: DataWarpBench, trouble: str
) -> None:
    """slurmctld has not read DataWarp's buffers; it is away; its site has none now."""
    up(runs, "pbbone")
    words = ["pbbone", "--discard", "--gone", "pbbone"]
    with pytest.raises(ReservationFailed, match="nothing says"):
        released(*words)
    rows = bench.read()["buffers"]
    bench.change(down=trouble == "down", plugin=trouble != "no plugin")
    if trouble == "unread":
        bench.change(buffers=[], jobs=[], unseen=sum(row["size"] for row in rows))
    with pytest.raises(PegasusBBError, match="--discard --gone pbbone"):
        released("pbbone", "--discard")
    assert "was given up" in released(*words)
    assert list_reservations() == []


def test_an_older_buffer_is_of_another_run(runs: Runs, bench: DataWarpBench) -> None:
    up(runs, "pbbone").saves()
    [row] = bench.read()["buffers"]
    bench.change(buffers=[{**row, "created": row["created"] - 3600}])
    [verdict] = leftovers()
    assert (verdict.goes, "left over from another run" in verdict.why) == (False, True)
    assert shown()["pbbone"].state == "failed"
