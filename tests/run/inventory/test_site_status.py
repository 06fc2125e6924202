"""What an administrator sees of a site: pools, buffers, users, and who waits."""

from __future__ import annotations

import json
import os

from click.testing import CliRunner

from pegasus_bb.cli.site import command
from tests.support.backend_contract import REQUEST
from tests.support.datawarp_bench import DataWarpBench, bench

__all__ = ["bench"]


def shown(*words: str) -> str:
    return (
        CliRunner().invoke(command, ["status", *words], catch_exceptions=False).output
    )


def test_a_site_of_datawarp_shows_who_has_what_and_who_waits(
    bench: DataWarpBench,
) -> None:
    bench.row("filler", size=1000, uid=61001)
    bench.backend.create(REQUEST)
    lines = [line.split() for line in shown().splitlines()]
    assert ["wlm_pool", "1.0", "GiB", "24.0", "MiB", "1.0", "MiB"] in lines
    assert ["user61001", "1000.0", "MiB"] in lines
    assert ["1", f"user{os.getuid()}", REQUEST.name, "BurstBufferResources"] in lines
    found = json.loads(shown("--json"))
    [buffer] = found["buffers"]
    assert (buffer["name"], buffer["state"]) == ("filler", "allocated")
    assert found["users"] == {"user61001": 1000 << 20}
    assert found["waiting"][0]["job"] == "1"
