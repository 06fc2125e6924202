"""A table of modes and tiers: in each, nothing but the speed changes."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.support.user_site import INPUTS, JOBS, Site


@dataclass(frozen=True)
class Way:
    """A mode, the tiers it is given, and where each job then works."""

    mode: str
    tiers: str  # of bb (shared by all nodes) and nvme (a disk of each node)
    own: str = ""  # jobs with a reservation, or a folder on the disk, of their own
    shared: bool = False  # the other jobs share a reservation; else they are on the PFS
    private: bool = False  # each job has a folder of its own, wherever it works

    def __str__(self) -> str:
        private = " in private" if self.private else ""
        return f"{self.mode} on {self.tiers}{private}".replace(" ", "-")

    @property
    def reservations(self) -> int:
        """How many a run asks for."""
        on_a_disk = "nvme" in self.tiers
        return self.shared + (0 if on_a_disk else len(self.own))

    def planned(self, site: Site, *more: str) -> Path:
        """Plan ``site`` for it, as the run ``bb``."""
        (site.root / "nvme").mkdir()
        nvme = {"name": "nvme", "backend": "node-local", "path": f"{site.root}/nvme"}
        with site.edited("sites.yml") as sites:
            [bb] = sites["x-storage-tiers"]["cluster"]
            known = {
                # Else no reservation of E's would pay.
                "bb": {**bb, "granularity": "1KiB"},
                "nvme": {**nvme, "mount": "any", "granularity": "1MiB"},
            }
            sites["x-storage-tiers"]["cluster"] = [known[t] for t in self.tiers.split()]
            if self.private:
                del sites["sites"][1]["profiles"]["pegasus"]["data.configuration"]
        return site.planned("bb", "--bb-mode", self.mode, "--bb-poll", "1s", *more)


WAYS = [
    Way("off", "bb"),
    Way("persistent", "bb", shared=True),
    Way("transient", "bb", own="ABCDE"),
    Way("hybrid", "bb nvme", own="E", shared=True),
    Way("persistent", "bb", shared=True, private=True),
    Way("transient", "nvme", own="ABCDE", private=True),
    Way("hybrid", "bb", own="E", shared=True, private=True),
]

# Other ways repeat the rest.
FAILING = [way for way in WAYS if "nvme" in way.tiers or way.mode == "persistent"]


@pytest.mark.parametrize("way", WAYS, ids=str)
def test_results_and_arguments_are_the_same_and_nothing_is_left(
    site: Site, way: Way
) -> None:
    submit = way.planned(site)
    site.finishes("bb")
    assert {p.name: p.read_bytes() for p in (site.root / "inputs").iterdir()} == INPUTS
    check_arguments(site)
    check_places(site, submit, way)
    check_ledger(site, way)
    assert site.reservations() == []
    for left in ("nvme", "pfs"):
        assert [p for p in (site.root / left).rglob("*") if not p.is_dir()] == []


def check_arguments(site: Site) -> None:
    """Each task has the arguments that the workflow gives it."""
    tasks = site.tasks("bb")
    assert sorted(tasks) == sorted(JOBS)
    for job, (output, inputs) in JOBS.items():
        assert tasks[job]["mainjob"]["argument_vector"] == [output, *inputs]


def check_places(site: Site, submit: Path, way: Way) -> None:
    """A job works where the table says, alone where it has a place of its own."""
    shared = site.root / "pfs"
    if way.shared:
        shared = site.tier_path / site.request("bb")["name"]
    own = f"{site.root}/nvme/pegasus_bb." if "nvme" in way.tiers else site.tier_path
    places = {job: task["cwd"] for job, task in site.tasks("bb").items()}
    for job, place in places.items():
        assert place.startswith(str(own if job in way.own else f"{shared}/"))
        is_alone = list(places.values()).count(place) == 1
        assert is_alone == (way.private or job in way.own)
        assert (".jobs" in place) == (way.private and job not in way.own)
    landed = {p.stem for p in (submit / "bb/stage_out").glob("*.json")}
    assert landed == {f"mix_{job}" for job in way.own}


def check_ledger(site: Site, way: Way) -> None:
    """Every reservation is on the ledger, and is given back."""
    events = [(line["name"], line["event"]) for line in site.ledger()]
    names = {name for name, _ in events}
    assert len(names) == way.reservations
    wanted = {(name, e) for name in names for e in ("requested", "released")}
    assert set(events) == wanted
    assert "no reservation" in site.bb("ls").stdout.lower()


@pytest.mark.parametrize("way", FAILING, ids=str)
def test_a_failed_task_keeps_what_jobs_share_and_a_second_run_goes_on(
    site: Site, way: Way
) -> None:
    site.trouble.write_text("e.dat")
    way.planned(site, "-Ddagman.retry=0")
    failed = site.run("bb")
    assert failed.returncode == 80, failed.stdout + failed.stderr
    assert "the disk on my desk is full" in failed.stdout + failed.stderr
    kept = [site.request("bb")["name"]] if way.shared else []
    assert site.reservations() == kept
    assert list((site.root / "nvme").iterdir()) == []
    assert all(
        f"to drop it:  pegasus-bb release {name} --discard" in failed.stderr
        for name in kept
    )
    if "E" in way.own:
        noted = site.submit_dir("bb") / "bb/stage_out/mix_E.json"
        assert json.loads(noted.read_text())["files"] == {}
    site.trouble.unlink()
    site.finishes("bb")
    log = (site.submit_dir("bb") / "jobstate.log").read_text()
    assert log.count(" mix_A SUBMIT ") == 1


SWEEP = pytest.mark.sweep
ON_THE_PFS = {"inputs": "pfs", "intermediate": "pfs", "outputs": "pfs"}


@pytest.mark.parametrize(
    ("mode", "cleanup", "tier"),
    [
        ("persistent", "inplace", ON_THE_PFS),
        pytest.param("persistent", "none", {"inputs": "link"}, marks=SWEEP),
        pytest.param("transient", "inplace", {"intermediate": "pfs"}, marks=SWEEP),
        pytest.param("hybrid", "inplace", {"outputs": "pfs"}, marks=SWEEP),
    ],
)
def test_wherever_files_live_the_results_are_the_same(
    site: Site, mode: str, cleanup: str, tier: dict[str, str]
) -> None:
    site.declare(granularity="1KiB", **tier)
    site.planned("bb", "--bb-mode", mode, "--bb-poll", "1s", "--cleanup", cleanup)
    site.finishes("bb")
    assert {p.name: p.read_bytes() for p in (site.root / "inputs").iterdir()} == INPUTS
    assert site.reservations() == []
