"""When what failed on a node is tried again, whatever the clock says."""

from __future__ import annotations

import time

import pytest

from pegasus_bb.stager.nodes.node_staging import pause_after


@pytest.mark.parametrize(
    ("ago", "seconds"),
    [(10.0, 50.0), (86400.0, 600.0), (-86400.0, 0.0)],
    ids=["as-long-as-five-tries", "set-forward", "set-back"],
)
def test_a_failed_stage_out_is_tried_again_soon(
    monkeypatch: pytest.MonkeyPatch, ago: float, seconds: float
) -> None:
    monkeypatch.setattr(time, "time", lambda: 1e9)
    assert pause_after(1e9 - ago) == seconds
