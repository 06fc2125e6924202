"""The tier's own rules, and which class a file is in."""

from __future__ import annotations

import pytest

from pegasus_bb.model.tiers import Tier
from pegasus_bb.placement.rules import class_rules, home
from tests.placement.user_files import User, job, sized, use


def test_a_plain_tier_takes_everything(user: User) -> None:
    assert user.homes() == {
        "in.txt": ("bb", "copy"),
        "mid.txt": ("bb", "write"),
        "keep.txt": ("bb", "write"),
        "ref.txt": ("bb", "copy"),
        "out.txt": ("bb", "write"),
    }


def test_files_come_in_the_order_of_the_workflow(user: User) -> None:
    assert list(user.decide().files) == [
        "in.txt",
        "mid.txt",
        "keep.txt",
        "ref.txt",
        "out.txt",
    ]


def test_a_file_that_is_staged_out_is_an_output_even_when_others_read_it(
    user: User,
) -> None:
    user.tier = {"intermediate": "bb", "outputs": "pfs"}
    homes = user.homes()
    assert homes["keep.txt"] == homes["out.txt"] == ("pfs", "write")
    assert homes["mid.txt"] == ("bb", "write")


def test_a_reader_that_stands_before_the_maker_does_not_make_an_input(
    user: User,
) -> None:
    user.jobs.reverse()
    assert user.placed("mid.txt").role == "intermediate"


def test_a_checkpoint_is_written_by_its_job(user: User) -> None:
    user.jobs.append(job("ID3", use("state.ckpt", "checkpoint", **sized(5))))
    placed = user.placed("state.ckpt")
    assert (placed.role, placed.how) == ("intermediate", "write")


@pytest.mark.parametrize(
    ("inputs", "home"), [("stage", ("bb", "copy")), ("pfs", ("pfs", "copy"))]
)
def test_inputs_are_copied_to_the_buffer_or_to_the_pfs(
    user: User, inputs: str, home: tuple[str, str]
) -> None:
    user.tier = {"inputs": inputs}
    assert user.homes()["in.txt"] == home


def test_inputs_as_links_stay_where_they_are(user: User) -> None:
    user.tier = {"inputs": "link"}
    here = [{"site": "cluster", "pfn": "/lus/data/x"}]
    user.replicas = {"in.txt": here, "ref.txt": here}
    placement = user.decide()
    assert placement.files["in.txt"].how == "link"
    assert not placement.on_tier("in.txt")
    assert placement.need == 60


def test_the_tier_s_own_name_stands_in_the_placement(user: User) -> None:
    user.tier = {"name": "fast"}
    assert user.homes()["mid.txt"] == ("fast", "write")


def test_the_reason_names_rule_tier_and_site(user: User) -> None:
    assert user.placed("mid.txt").reason == (
        "made by a job and not staged out: tier bb of site cluster says "
        "intermediate: bb"
    )
    assert "inputs: stage" in user.placed("in.txt").reason


def test_every_role_has_a_rule_and_every_rule_a_home() -> None:
    tier = Tier("cluster", "fast", "datawarp", inputs="link")
    homes = {role: home(r.where, role, tier) for role, r in class_rules(tier).items()}
    assert homes == {
        "input": ("pfs", "link"),
        "intermediate": ("fast", "write"),
        "output": ("fast", "write"),
    }
