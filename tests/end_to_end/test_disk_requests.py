"""A job asks its batch system for the disk of its node, by the size of its files."""

from __future__ import annotations

import re
from pathlib import Path

import classad2
import pytest

from pegasus_bb.model.dag.htcondor_api import htcondor2
from tests.support.user_site import Site

MB = 10**6


def declared(site: Site, style: str = "glite", **keys: object) -> None:
    """The site's tier, and 700 MB that the first job writes."""
    site.has_disks(**keys)
    with site.edited("sites.yml") as sites:
        profiles = sites["sites"][1]["profiles"]
        profiles["pegasus"]["style"] = style
        if style == "glite":
            profiles["condor"] = {"grid_resource": "batch slurm"}
    with site.edited("workflow.yml") as workflow:
        for use in workflow["jobs"][0]["uses"]:
            if use["type"] == "output":
                use.setdefault("metadata", {})["size"] = 700 * MB


def submit_file(site: Site, run: str, *options: str, job: str = "mix_A") -> str:
    """As it is written without growth."""
    growth = () if options else ("--bb-request-growth", "1")
    folder = site.planned(run, "--bb-mode", "transient", *growth, *options)
    [file] = Path(folder).glob(f"**/{job}*.sub")
    return file.read_text()


def asked(text: str, command: str, retry: int) -> str:
    """What HTCondor makes of ``command`` at that try."""
    submit = htcondor2().Submit(text)
    submit["My.DAGNodeRetry"] = str(retry)
    return str(submit.expand(command))


@pytest.mark.parametrize(
    ("style", "request_", "line", "unit"),
    [
        ("glite", "--gres=nvme:{mb}", r"EXTRA_ARGUMENTS==.*--gres=nvme:(\d+)\"", MB),
        ("glite", "-l ssd={mib}m", r"EXTRA_ARGUMENTS==.*-l ssd=(\d+)m\"", 1 << 20),
        ("condor", "request_disk={kib}", r"^request_disk = (\d+)$", 1 << 10),
    ],
)
def test_a_job_asks_for_what_its_files_need(
    site: Site, style: str, request_: str, line: str, unit: int
) -> None:
    declared(site, style, request=request_)
    text = submit_file(site, "bb")
    found = re.search(line, text, re.MULTILINE)
    assert found, text
    need = 700 * MB
    assert need <= int(found[1]) * unit <= 1.3 * need
    declared(site, style)
    assert not re.search(line, submit_file(site, "without"), re.MULTILINE)


@pytest.mark.parametrize(
    ("request_", "own", "together"),
    [
        ("-C nvme", "--exclusive", "--exclusive -C nvme"),
        ("--gres=nvme:{gb}", "--gres=gpu:1", "--gres=nvme:1,gpu:1"),
        ("-C nvme", "--constraint=haswell", ""),
        ("--tmp={mb}", "--tmp=5", ""),
    ],
)
def test_what_a_job_asks_for_already_stays(
    site: Site, request_: str, own: str, together: str
) -> None:
    declared(site, request=request_)
    with site.edited("sites.yml") as sites:
        sites["sites"][1]["profiles"]["pegasus"]["glite.arguments"] = own
    if together:
        assert f'"{together}"' in submit_file(site, "bb").replace("\\", "")
        return
    said = site.refuses("bb", "--bb-mode", "transient")
    assert "which the batch system takes once" in "".join(said.split("\n"))


GRES = r"--gres=nvme:(\d+)\""


@pytest.mark.parametrize(
    ("keys", "growth", "sizes"),
    [
        ({}, "1.5", [772, 1158, 1737]),
        ({"largest": "1000MB"}, "1.5", [772, 1000, 1000]),
        ({}, "3", [772, 2316, 6948]),
    ],
)
def test_each_further_try_asks_for_more_up_to_the_largest(
    site: Site, keys: dict[str, str], growth: str, sizes: list[int]
) -> None:
    declared(site, request="--gres=nvme:{mb}", **keys)
    text = submit_file(site, "bb", "--bb-request-growth", growth)
    for retry, size in enumerate(sizes):
        found = re.search(GRES, asked(text, "My.remote_cerequirements", retry))
        assert found and int(found[1]) == size


def test_a_larger_disk_of_the_user_s_grows_as_well(site: Site) -> None:
    declared(site, "condor", request="request_disk={kib}")
    with site.edited("workflow.yml") as workflow:
        workflow["jobs"][0]["profiles"] = {"condor": {"request_disk": 10_000_001}}
    text = submit_file(site, "bb", "--bb-request-growth", "1.5")
    sizes = [classad2.ExprTree(asked(text, "request_disk", n)).eval() for n in (0, 1)]
    assert sizes == [10_000_001, 15_000_002]


@pytest.mark.parametrize(
    ("style", "keys", "key", "fix"),
    [
        ("condor", {"request": "-C nvme"}, "request", "request_disk={kib}"),
        ("glite", {"request": "request_disk={kib}"}, "request", "--gres=nvme:{gb}"),
        (
            "glite",
            {"request": "-C nvme", "largest": "100MB"},
            "largest",
            "bb.tier: pfs",
        ),
    ],
)
def test_a_request_that_cannot_be_made_is_refused_with_its_place(
    site: Site, style: str, keys: dict[str, str], key: str, fix: str
) -> None:
    declared(site, style, **keys)
    says = f"in style {style}, which does not carry", "nvme gives a job 95"
    plan = site.refuses("bb", "--bb-mode", "transient")
    explained = site.bb("explain", "--bb-mode", "transient")
    assert explained.returncode == 2
    assert "capacity:" in explained.stdout  # the table comes first
    line = (site.work / "sites.yml").read_text().split(f"  {key}:")[0].count("\n") + 1
    for said in (plan, explained.stderr):
        assert f"sites.yml:{line}: " in said
        assert says[key == "largest"] in said
        assert f"  key:      x-storage-tiers.cluster.0.{key}\n" in said
        assert f"  found:    {keys[key]}\n" in said
        assert fix in said.partition("  fix: ")[2]
    check = site.bb("check", *LOOK).stdout
    (wrong,) = re.findall(r"^no .*(?:\n .*)*", check, re.MULTILINE)
    assert fix in wrong.partition(" fix: ")[2]


def test_a_cluster_that_needs_more_than_the_largest_disk_is_refused(site: Site) -> None:
    declared(site, request="--gres=nvme:{mb}", largest="3000MB")
    with site.edited("workflow.yml") as workflow:
        for job in workflow["jobs"]:
            job["profiles"] = {"pegasus": {"label": "all"}}
            for use in job["uses"]:
                if use["type"] == "output":
                    use.setdefault("metadata", {})["size"] = 700 * MB
    words = ("bb", "--bb-mode", "transient")
    assert site.plan(*words).returncode == 0
    said = site.refuses("clustered", *words[1:], "--cluster", "label")
    assert "on its node, and tier nvme gives a job 2.8 GiB at most" in said
    assert "fewer tasks if it is a cluster" in said


LOOK = ("--bb-mode", "transient", "--output-sites", "local")


def test_a_tier_that_is_memory_adds_to_the_memory_of_the_job(site: Site) -> None:
    declared(site, request="memory+={mb}")
    with site.edited("workflow.yml") as workflow:
        workflow["jobs"][0]["profiles"] = {"pegasus": {"memory": 2048}}
    text = submit_file(site, "bb")
    found = re.search(r'TOTAL_MEMORY==\\?"+(\d+)', text)
    assert found and 2048 + 667 <= int(found[1]) <= 2048 + 1.3 * 668


def test_explain_shows_what_each_job_asks_for_and_its_price(site: Site) -> None:
    declared(site, request="--gres=nvme:{gb}", price=0.02)
    done = site.bb("explain", "--bb-mode", "transient", check=True)
    assert re.search(r"asks: --gres=nvme:1, 0\.01\d+ an hour", done.stdout)


@pytest.mark.parametrize(
    ("keys", "words"),
    [
        ({"request": "--gres=nvme:{tb}"}, "{tb} is no unit of a size"),
        ({"request": "--gres=nvme:{tb}"}, "one of {gb}, {gib}, {mb}, {mib}, {kib}"),
        ({"request": "--tmp={gb}{gb}"}, "one size at most stands in a request"),
        ({"largest": "100MB"}, "without a request none asks"),
        ({"request": "--gres=nvme:{gb};reboot"}, "more than words"),
        ({"request": "--bbf=mine"}, "no form of a request"),
        ({"request": "nvme {gb}"}, "no form of a request"),
        ({"request": "request_disk={gb}"}, "no form of a request"),
        ({"request": "-C nvme", "largest": "100MB"}, "nvme gives a job 95"),
        ({"price": "much"}, "a price is a number"),
    ],
)
def test_a_mistake_is_told_and_nothing_is_planned(
    site: Site, keys: dict[str, object], words: str
) -> None:
    declared(site, **keys)
    said = site.refuses("bb", "--bb-mode", "transient")
    assert words in said
