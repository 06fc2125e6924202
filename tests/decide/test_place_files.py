"""Deciding as a whole: cheap, and the same each time."""

from __future__ import annotations

from pegasus_bb.decide.place_files import place_files
from tests.support.counting import calls
from tests.support.user_files import User, job, sized, use


def test_thousands_of_jobs_and_hundreds_of_patterns_are_not_tried_one_by_one(
    user: User,
) -> None:
    user.jobs = [
        job(f"J{n}", use("in", "input", **sized(1)), use(f"f{n}", "output", **sized(1)))
        for n in range(1_000)
    ]
    exact = [f"f{n}: pfs" for n in range(0, 1_000, 10)]
    globs = [f"'f{n}[13579]': pfs" for n in range(10, 100)]
    user.placement = "\n".join(exact + globs)
    given = user.given()
    tier = given.catalogs.tiers["cluster"][0]
    placement = place_files(given, tier).placement
    assert placement.files["f105"].tier == "pfs"
    assert placement.files["f106"].tier == "bb"
    again = calls(lambda: place_files(given, tier))
    assert again < 100 * len(user.jobs)  # not: jobs times patterns
