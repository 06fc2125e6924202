"""The gate on a real slurmctld: each answer is told apart, in the scheduler's words."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from pegasus_bb.testbed import site
from pegasus_bb.units import MIB
from tests.testbed.gated import USER, GatedRun
from tests.testbed.slurm_site import POOL, SlurmSite, on_slurm

pytestmark = [pytest.mark.site, on_slurm("22.05")]


@pytest.fixture
def full(slurm: SlurmSite) -> Iterator[SlurmSite]:
    """Another user has all but 24 MiB."""
    slurm.hold("other", "filler", 1000 * MIB)
    yield slurm
    if "filler" in slurm.buffers():
        slurm.give_back("other", "filler")


def test_ready_then_given_back(slurm: SlurmSite) -> None:
    run = GatedRun(slurm, "gready")
    assert run.gate()[0] == 75  # bb_setup has not asked yet
    run.asked()
    status, words = run.final()
    assert (status, "gready is ready" in words) == (0, True)
    run.asked()  # as on a rescue run
    assert run.gate()[0] == 0
    assert run.program("delete").status == 0
    assert "gready" not in slurm.buffers()
    status, words = run.gate()
    assert (status, "given back already" in words) == (76, True)


def test_not_yet_while_others_have_the_space(full: SlurmSite) -> None:
    run = GatedRun(full, "gwaits")
    run.asked()
    for _ in range(3):
        status, words = run.gate()
        assert (status, "not yet" in words) == (75, True)
    assert "PENDING" in words
    full.give_back("other", "filler")
    assert run.final()[0] == 0
    assert run.program("delete").status == 0


def test_a_request_that_slurm_holds_fails_with_its_words(slurm: SlurmSite) -> None:
    says = "dwsd: no space left on any server: 507"
    slurm.inject(f"create_persistent token=gheld says={says}\n")
    run = GatedRun(slurm, "gheld")
    run.asked()
    status, words = run.final()
    slurm.inject("")
    assert (status, says in words) == (76, True)
    run.asked()  # mended meanwhile: the rescue run asks afresh
    assert run.final()[0] == 0
    assert run.program("delete").status == 0


def test_the_name_of_another_user_names_both(slurm: SlurmSite) -> None:
    slurm.hold("other", "gtheirs", 10 * MIB)
    run = GatedRun(slurm, "gtheirs")
    assert run.program("setup").status == 76
    status, words = run.gate()
    assert (status, "other" in words, USER in words) == (76, True, True)
    slurm.give_back("other", "gtheirs")


def test_a_name_that_another_user_takes_while_we_wait(full: SlurmSite) -> None:
    run = GatedRun(full, "gstolen")
    run.asked()
    assert run.gate()[0] == 75
    full.hold("other", "gstolen", 10 * MIB)
    status, words = run.gate()
    assert (status, "belongs to other" in words) == (76, True)
    assert run.program("delete").status == 76
    full.give_back("other", "gstolen")
    assert run.program("delete").status == 0
    assert full.run("root", "squeue", "-h", "--name=gstolen").out == ""


def test_a_leftover_of_ours_in_another_size_is_not_used(slurm: SlurmSite) -> None:
    slurm.hold(USER, "gold", 10 * MIB)
    run = GatedRun(slurm, "gold")
    answer = run.program("setup")
    assert (answer.status, "was there before" in answer.out + answer.err) == (76, True)
    status, words = run.gate()
    assert (status, "10.0 MiB" in words) == (76, True)
    slurm.give_back(USER, "gold")


def test_more_than_the_pool_has_is_refused_at_once(slurm: SlurmSite) -> None:
    run = GatedRun(slurm, "glarge", capacity=2 * POOL)
    assert run.program("setup").status == 76
    status, words = run.gate()
    assert (status, "in all" in words) == (76, True)
    assert slurm.run("root", "squeue", "-h", "-tall", "--name=glarge").out == ""


def test_the_deadline_is_kept_and_tells_what_it_waited_for(full: SlurmSite) -> None:
    run = GatedRun(full, "glate")
    run.asked()
    assert run.gate()[0] == 75
    run.allow(wait=0)
    status, words = run.gate()
    assert (status, "did not come up within" in words) == (77, True)
    assert run.program("delete").status == 0
    assert full.run("root", "squeue", "-h", "--name=glate").out == ""


def test_what_was_up_and_is_not_is_gone(slurm: SlurmSite) -> None:
    run = GatedRun(slurm, "ggone")
    run.asked()
    assert run.final()[0] == 0
    slurm.give_back(USER, "ggone")
    status, words = run.final()
    assert (status, "was up and is gone" in words) == (76, True)


def test_a_controller_that_is_down_says_nothing_about_the_buffer(
    slurm: SlurmSite,
) -> None:
    run = GatedRun(slurm, "gdown")
    run.asked()
    assert run.final()[0] == 0
    site.stop_controller(slurm.home)
    status, words = run.gate()
    assert (status, "Unable to contact" in words) == (75, True)
    assert run.program("delete").status == 78
    run.allow(wait=0)
    assert run.gate()[0] == 78
    site.start_controller(slurm.home)
    assert run.final()[0] == 0
    assert run.program("delete").status == 0


def test_a_slurm_without_the_plugin_fails_at_once(slurm: SlurmSite) -> None:
    run = GatedRun(slurm, "gplugin")
    run.asked()
    assert run.final()[0] == 0
    conf = slurm.home.root / "etc/slurm/slurm.conf"
    text = conf.read_text()
    site.stop_controller(slurm.home)
    try:
        conf.write_text(text.replace("BurstBufferType=", "#BurstBufferType="))
        site.must(slurm.home, ["/usr/sbin/slurmctld"])
        slurm.until(lambda: slurm.run("root", "sinfo").status == 0)
        status, words = run.gate()
    finally:
        conf.write_text(text)
        site.forget_jobs(slurm.home, POOL)
    assert (status, "no burst buffer" in words) == (76, True)
