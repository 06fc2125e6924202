"""A tier that several users share: what others put there stops nobody."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from pegasus_bb.errors import ReservationFailed
from pegasus_bb.model.reservation import State
from tests.reservation.contract import REQUEST
from tests.reservation.test_directory import DirectoryBench, made


@pytest.fixture
def bench(tmp_path: Path) -> DirectoryBench:
    return DirectoryBench(tmp_path)


@pytest.mark.parametrize(
    "text",
    [
        "[" * 60_000,
        '{"name": "pbbother", "size": -1}',
        '{"name": "pbbother", "size": 9, "created": "yesterday"}',
        '{"name": "pbbother", "size": 9, "created": 1e300}',
    ],
)
def test_what_others_put_into_the_tier_stops_nobody(
    bench: DirectoryBench, text: str
) -> None:
    """Everybody may write to a tier that is shared."""
    (bench.root / "pbbother").mkdir()
    (bench.root / "pbbother" / ".pegasus_bb").write_text(text)
    made(bench)
    found = bench.backend.list_reservations([REQUEST])
    assert [row.name for row in found.rows] == [REQUEST.name]
    assert found.statuses[0].state is State.READY


@pytest.mark.skipif(os.getuid() != 0, reason="only root can give a folder away")
def test_a_folder_that_another_user_owns_is_not_used(bench: DirectoryBench) -> None:
    """Whoever owns it reads and changes what is in it, whatever its identity says."""
    os.chown(made(bench), 65534, 65534)
    status = bench.backend.status(REQUEST)
    assert status.state is State.FAILED and "belongs to uid 65534" in status.message
    with pytest.raises(ReservationFailed, match="belongs to uid 65534, not to 0"):
        bench.backend.delete(REQUEST)
    assert bench.folder().exists()
