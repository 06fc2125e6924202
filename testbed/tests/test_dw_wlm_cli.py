"""Each function of dw_wlm_cli answers with the words that Slurm waits for."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from testbed.tests.conftest import MIB, UID, Dw

# -- what Slurm asks every few seconds


def test_pools_are_told_in_granules_and_bytes(dw: Dw) -> None:
    wide = {"id": "wlm_pool", "granularity": MIB, "quantity": 1024, "free": 1024}
    small = {"id": "small", "granularity": 4 * MIB, "quantity": 2, "free": 2}
    pools = [{**pool, "units": "bytes"} for pool in (wide, small)]
    assert json.loads(dw.good("pools")) == {"pools": pools}


def test_ids_are_whole_numbers_and_link_an_instance_to_its_session(dw: Dw) -> None:
    dw.create("csb", 10 * MIB)
    dw.create("csb2", 20 * MIB)
    sessions = {s["token"]: s for s in dw.show("sessions")}
    sizes = {
        i["links"]["session"]: i["capacity"]["bytes"] for i in dw.show("instances")
    }
    assert all(type(s["id"]) is int for s in sessions.values())
    assert sizes[sessions["csb"]["id"]] == 10 * MIB
    assert sizes[sessions["csb2"]["id"]] == 20 * MIB
    assert sessions["csb"]["owner"] == UID
    assert type(sessions["csb"]["created"]) is int


# -- persistent buffers


def test_teardown_of_a_name_destroys_the_buffer_with_its_data(dw: Dw) -> None:
    dw.create("csb")
    script = dw.script("#DW persistentdw name=csb")
    environ = dw.run_job("7", script)
    (Path(environ["DW_PERSISTENT_STRIPED_csb"]) / "data").write_text("x")
    dw.end_job("7", script)
    dw.good("teardown", "--token", "csb", "--job", script, "--hurry")
    assert dw.tokens() == []
    assert dw.free() == 1024
    assert list(dw.place.buffers.iterdir()) == []
    assert list(dw.place.trash.iterdir()) == []


# -- jobs that use one


def test_the_mount_differs_per_job_and_goes_away_with_it(dw: Dw) -> None:
    dw.create("csb")
    script = dw.script("#DW persistentdw name=csb")
    first = dw.run_job("41", script)
    second = dw.run_job("42", script)
    one = Path(first["DW_PERSISTENT_STRIPED_csb"])
    two = Path(second["DW_PERSISTENT_STRIPED_csb"])
    assert one.name == "csb_41_striped_scratch"
    assert two.name == "csb_42_striped_scratch"
    (one / "data").write_text("shared")
    dw.end_job("41", script)
    assert not os.path.lexists(one)
    assert (two / "data").read_text() == "shared"


@pytest.mark.parametrize("size", [10 * MIB - 5, "10MiB"])  # Slurm prints either
def test_a_job_buffer_lives_from_setup_to_teardown(dw: Dw, size: int | str) -> None:
    script = dw.script("#DW jobdw type=scratch capacity=10MiB access_mode=striped")
    environ = dw.run_job("44", script, size)
    assert list(environ) == ["DW_JOB_STRIPED"]
    assert Path(environ["DW_JOB_STRIPED"]).name == "44_striped_scratch"
    assert json.loads(dw.good("real_size", "--token", "44"))["capacity"] == 10 * MIB
    assert dw.free() == 1014
    dw.end_job("44", script)
    assert dw.free() == 1024
    assert dw.tokens() == []


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("jobdw type=scratch", "capacity is missing"),
        ("jobdw capacity=1GiB access_mode=wide", "striped or private"),
        ("persistentdw", "name is missing"),
        ("stage_in source=/a destination=$DW_JOB_STRIPED/a", "type is"),
        ("stage_in type=file source=a destination=$DW_JOB_STRIPED", "absolute"),
        ("stage_out type=file source=/a destination=/b", "does not begin"),
        ("stage_out type=file source=$DW_JOB_STRIPED/../b destination=/b", "leads out"),
        ("create_persistent name=x", "no such directive"),
    ],
)
def test_a_wrong_directive_is_told_at_submission(
    dw: Dw, line: str, message: str
) -> None:
    assert message in dw.refused("job_process", "--job", dw.script(f"#DW {line}"))
