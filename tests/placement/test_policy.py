"""The tier's own rules, and which class a file is in."""

from __future__ import annotations

from tests.placement.user_files import User, job, sized, use


def test_a_plain_tier_takes_everything_in_the_order_of_the_workflow(
    user: User,
) -> None:
    assert list(user.homes().items()) == [
        ("in.txt", ("bb", "copy")),
        ("mid.txt", ("bb", "write")),
        ("keep.txt", ("bb", "write")),
        ("ref.txt", ("bb", "copy")),
        ("out.txt", ("bb", "write")),
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


def test_inputs_may_be_copied_to_the_pfs(user: User) -> None:
    user.tier = {"inputs": "pfs"}
    assert user.homes()["in.txt"] == ("pfs", "copy")


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
