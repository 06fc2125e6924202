"""A user's catalogs as they are: what Pegasus would add need not be there."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.support.pegasus_site import SITES, UserFolder


@pytest.fixture
def user(tmp_path: Path) -> UserFolder:
    return UserFolder(tmp_path)


def test_results_go_to_wf_output_if_nobody_declares_site_local(
    user: UserFolder,
) -> None:
    with user.edited("sites.yml") as sites:
        del sites["sites"][0]
    user.plan("persistent", "--bb-planner", "builtin")
    done = user.bb("run", str(user.submit))
    assert done.returncode == 0, done.stdout + done.stderr
    assert (user.work / "wf-output" / "out.txt").read_text() == "hello\n"


def test_a_site_that_no_catalog_declares_is_named(user: UserFolder) -> None:
    (user.work / "sites.yml").unlink()
    done = user.try_plan("off", "--bb-planner", "builtin")
    assert done.returncode == 2
    assert (
        "--sites cori: there is no sites.yml; one of local, condorpool" in done.stderr
    )


def test_check_finds_condorpool_where_there_is_no_site_catalog(
    user: UserFolder,
) -> None:
    (user.work / "sites.yml").unlink()
    done = user.bb("check", "--bb-planner", "builtin", "workflow.yml")
    assert "ok    files" in done.stdout
    assert "site condorpool" in done.stdout


def test_the_tier_may_stand_in_bb_yml_and_the_summary_says_so(
    user: UserFolder,
) -> None:
    with user.edited("sites.yml") as sites:
        tiers = {"x-storage-tiers": sites.pop("x-storage-tiers")}
    (user.work / "bb.yml").write_text(json.dumps(tiers))
    done = user.try_plan("persistent", "--bb-planner", "builtin")
    assert done.returncode == 0, done.stderr
    assert "directory (the first of bb.yml)" in done.stderr
    assert str(user.work / "bb.yml") in user.read("planned_by.json")["read"]


def test_a_file_of_speeds_may_stand_there_as_well(user: UserFolder) -> None:
    speed = {"read": "1GB/s", "write": "1GB/s"}
    speeds = {"x-storage-speeds": {"cori": {"slots": 2, "pfs": speed, "bb": speed}}}
    (user.work / "bb.yml").write_text(json.dumps(speeds))
    done = user.bb("explain", *SITES, "workflow.yml")
    assert "persistent" in done.stdout
    assert "transient" in done.stdout, "the modes are compared"
