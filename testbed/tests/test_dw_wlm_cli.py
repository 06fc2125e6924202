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


def test_with_nothing_granted_the_lists_are_empty(dw: Dw) -> None:
    for what in ("instances", "sessions", "configurations"):
        assert json.loads(dw.good(f"show_{what}")) == {what: []}


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


def test_create_rounds_up_to_granules(dw: Dw) -> None:
    assert dw.create("csb", 10 * MIB + 1) == "created\n"
    assert dw.tokens() == ["csb"]
    assert dw.free() == 1024 - 11


def test_a_name_asked_for_again_is_the_same_buffer_or_refused(dw: Dw) -> None:
    dw.create("csb")
    assert dw.create("csb") == "created\n"  # after a lost answer
    assert "already exists" in dw.refused(*dw.create_words("csb", uid=UID + 1))
    assert "another size" in dw.refused(*dw.create_words("csb", 200 * MIB))
    assert dw.free() == 924


def test_no_space_left_is_an_error_in_words(dw: Dw) -> None:
    dw.create("csb", 1000 * MIB)
    said = dw.refused(*dw.create_words("more"))
    assert "no space left" in said
    assert "24 free" in said
    assert dw.tokens() == ["csb"]


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


@pytest.mark.parametrize("function", ["teardown", "data_in", "data_out"])
def test_what_is_gone_has_the_words_that_end_it(dw: Dw, function: str) -> None:
    said = dw.refused(function, "--token", "9", "--job", dw.script())
    assert "No matching session" in said


# -- jobs that use one


def test_the_mount_differs_per_job_and_goes_away_with_it(dw: Dw) -> None:
    dw.create("csb")
    script = dw.script("#DW persistentdw name=csb")
    first, second = dw.run_job("41", script), dw.run_job("42", script)
    one = Path(first["DW_PERSISTENT_STRIPED_csb"])
    two = Path(second["DW_PERSISTENT_STRIPED_csb"])
    assert one.name == "csb_41_striped_scratch"
    assert two.name == "csb_42_striped_scratch"
    (one / "data").write_text("shared")
    dw.end_job("41", script)
    assert not os.path.lexists(one)
    assert (two / "data").read_text() == "shared"


def test_a_job_that_uses_no_space_of_its_own_needs_none_on_a_full_pool(dw: Dw) -> None:
    dw.create("csb", 1024 * MIB)
    script = dw.script("#DW persistentdw name=csb")
    assert dw.run_job("43", script)
    size = json.loads(dw.good("real_size", "--token", "43"))
    assert size == {"capacity": 0, "units": "bytes"}


def test_a_buffer_that_is_not_there_is_named(dw: Dw) -> None:
    script = dw.script("#DW persistentdw name=nobody")
    words = f"--token 5 --caller SLURM --user {UID} --groupid 0 --capacity wlm_pool:0"
    said = dw.refused("setup", *words.split(), "--job", script)
    assert "no persistent instance nobody" in said
    assert dw.tokens() == []


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


def test_a_task_of_an_array_has_its_space_though_slurm_has_no_folder_for_it(
    dw: Dw,
) -> None:
    folder = dw.root / "job.49"
    dw.path_file = folder / "path"
    environ = dw.run_job("49", f"{folder}/script", MIB)
    assert Path(environ["DW_JOB_STRIPED"]).is_dir()
    dw.end_job("49", f"{folder}/script")
    assert dw.free() == 1024


def test_private_and_striped_are_two_folders(dw: Dw) -> None:
    script = dw.script("#DW jobdw capacity=1MiB access_mode=striped,private")
    environ = dw.run_job("45", script, MIB)
    striped = Path(environ["DW_JOB_STRIPED"])
    private = Path(environ["DW_JOB_PRIVATE"])
    (striped / "a").write_text("x")
    assert list(private.iterdir()) == []


def test_every_step_may_be_repeated(dw: Dw) -> None:
    script = dw.script("#DW jobdw capacity=1MiB access_mode=striped")
    first = dw.run_job("46", script, MIB)
    (Path(first["DW_JOB_STRIPED"]) / "a").write_text("kept")
    again = dw.run_job("46", script, MIB)
    assert (Path(again["DW_JOB_STRIPED"]) / "a").read_text() == "kept"
    assert dw.free() == 1023


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


def test_directives_end_with_the_head_of_the_script_and_may_be_continued(
    dw: Dw,
) -> None:
    head = ("#SBATCH -N1", "#DW persistentdw name=csb", "#DW swap 1GiB")
    late = dw.script(*head, "echo", "#DW nonsense")
    assert dw.good("job_process", "--job", late) == ""
    script = dw.script("#DW jobdw capacity=1MiB \\", "#DW access_mode=private")
    assert list(dw.run_job("47", script, MIB)) == ["DW_JOB_PRIVATE"]
