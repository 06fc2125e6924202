"""The tier's own rules, and what jobs and files say themselves: the narrower wins."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support.user_files import User, said, use


def profile(word: str) -> dict[str, Any]:
    return {"pegasus": {"bb.tier": word}}


def of_a_file(user: User, word: str) -> None:
    """The metadata of mid.txt names its tier."""
    user.jobs[0]["uses"][1]["metadata"]["bb.tier"] = word


def of_a_job(user: User, word: str) -> None:
    """The profile of job ID1 names its tier."""
    user.jobs[0]["profiles"] = profile(word)


@pytest.mark.parametrize(
    ("tier", "lfn", "home"),
    [
        ({"outputs": "pfs"}, "keep.txt", ("pfs", "write")),  # staged out, though read
        ({"outputs": "pfs"}, "mid.txt", ("bb", "write")),
        ({"inputs": "pfs"}, "in.txt", ("pfs", "copy")),
        ({"inputs": "link"}, "in.txt", ("pfs", "link")),
        ({"name": "fast"}, "mid.txt", ("fast", "write")),
    ],
)
def test_the_tier_has_a_rule_for_each_class(
    user: User, tier: dict[str, str], lfn: str, home: tuple[str, str]
) -> None:
    here = [{"site": "cluster", "pfn": "/lus/data/x"}]
    user.tier, user.replicas = tier, {"in.txt": here, "ref.txt": here}
    assert user.homes()[lfn] == home


def test_a_job_s_profile_is_about_what_it_writes(user: User) -> None:
    of_a_job(user, "pfs")
    homes = user.homes()
    assert homes["mid.txt"] == homes["keep.txt"] == ("pfs", "write")
    assert homes["out.txt"] == ("bb", "write")
    assert "ID1, which writes it" in user.placed("mid.txt").reason


def test_a_program_says_it_for_all_its_jobs_that_do_not(user: User) -> None:
    program = {"name": "work", "profiles": profile("pfs"), "sites": []}
    user.transformations = [program]
    user.jobs[1]["profiles"] = profile("bb")
    homes = user.homes()
    assert (homes["mid.txt"], homes["out.txt"]) == (("pfs", "write"), ("bb", "write"))
    program["profiles"] = profile("sdd")
    error = user.is_refused("no such tier")
    assert error.file.endswith("transformations.yml")
    assert error.key == "transformations.0.profiles.pegasus.bb.tier"
    text = (user.folder / "transformations.yml").read_text().splitlines()
    assert text[error.line - 1].strip() == "bb.tier: sdd"


def test_an_input_moves_if_all_its_readers_say_so(user: User) -> None:
    user.jobs[1]["uses"].append(use("in.txt", "input"))
    of_a_job(user, "pfs")
    assert user.homes()["in.txt"] == ("bb", "copy")
    user.jobs[1]["profiles"] = profile("bb")
    assert user.homes()["in.txt"] == ("bb", "copy")
    user.jobs[1]["profiles"] = profile("pfs")
    assert user.homes()["in.txt"] == ("pfs", "copy")
    assert "every job that reads it" in user.placed("in.txt").reason


def test_metadata_wins_over_a_profile_and_the_placement_file_over_both(
    user: User,
) -> None:
    of_a_job(user, "pfs")
    of_a_file(user, "bb")
    placed = user.placed("mid.txt")
    assert (placed.tier, placed.how) == ("bb", "write")
    assert placed.reason == "its metadata in job ID1 says bb.tier: bb"
    user.placement = "mid.txt: pfs\n"
    assert user.homes()["mid.txt"] == ("pfs", "write")


def test_any_use_of_a_file_may_say_its_tier(user: User) -> None:
    user.jobs[0]["uses"][0] = use("in.txt", "input", **said("link"))
    user.jobs[1]["uses"][0] = use("mid.txt", "input", **said("pfs"))
    user.replicas = {"in.txt": [{"site": "cluster", "pfn": "file:///lus/in.txt"}]}
    homes = user.homes()
    assert (homes["in.txt"], homes["mid.txt"]) == (("pfs", "link"), ("pfs", "write"))


@pytest.mark.parametrize("word", ["bb", "fast"])
def test_bb_means_the_tier_whatever_it_is_called(user: User, word: str) -> None:
    user.tier = {"name": "fast", "intermediate": "pfs"}
    of_a_file(user, word)
    assert user.homes()["mid.txt"] == ("fast", "write")


def test_bb_means_the_tier_of_that_name_where_there_is_one(user: User) -> None:
    user.tier = {"name": "fast"}
    user.other_tiers = [{"name": "bb", "backend": "datawarp"}]
    of_a_file(user, "bb")
    user.is_refused("reserves tier fast of site cluster")


def test_two_uses_that_contradict_each_other_are_refused(user: User) -> None:
    of_a_file(user, "bb")
    user.jobs[1]["uses"][0] = use("mid.txt", "input", **said("pfs"))
    error = user.is_refused(r"ID1 says bb.tier: bb")
    assert error.key == "jobs.1.uses.0.metadata.bb.tier"
    assert error.line > 20


@pytest.mark.parametrize(
    ("say", "word", "what"),
    [
        (of_a_file, "ssd", "no such tier"),
        (of_a_file, "link", r"mid.txt is made by job ID1; only an input"),
        (of_a_job, "link", "what it writes"),
        (of_a_job, "sdd", "no such tier"),
    ],
)
def test_a_word_that_cannot_be_is_refused_with_its_line(
    user: User, say: Any, word: str, what: str
) -> None:
    say(user, word)
    error = user.is_refused(what)
    text = (user.folder / "workflow.yml").read_text().splitlines()
    assert text[error.line - 1].strip() == f"bb.tier: {word}"
    assert error.key.endswith(".bb.tier")
    assert error.found == word
    assert error.would_do == "one of bb, pfs"
