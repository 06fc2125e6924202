"""Results leave the tier at a pace, at the end, or at once; none of them is lost."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from tests.support.reflinks import skip_if_shared
from tests.support.user_site import INPUTS, Site, expected

from .test_predicted import FAST, speeds

MIB = 1 << 20
PERSISTENT = ("--bb-mode", "persistent", "--bb-capacity", "60MiB")
STAGE_OUTS = ("stage_out_remote_cluster_2_0", "stage_out_remote_cluster_3_0")


@pytest.fixture
def large(site: Site, monkeypatch: pytest.MonkeyPatch) -> Site:
    """Results of some MiB, on a file system that copies."""
    monkeypatch.setitem(INPUTS, "in.txt", os.urandom(MIB))
    (site.root / "inputs" / "in.txt").write_bytes(INPUTS["in.txt"])
    skip_if_shared(site.root)
    return site


def segments(submit: Path) -> list[tuple[float, float, int]]:
    logs = sorted((submit / "bb" / "drain").glob("*.jsonl"))
    lines = [line for log in logs for line in log.read_text().splitlines()]
    return sorted((begin, end, size) for begin, end, size in map(json.loads, lines))


def test_a_rate_is_kept_and_all_results_come(large: Site) -> None:
    submit = large.planned("bb", *PERSISTENT, "--bb-drain", "8MiB/s")
    large.finishes("bb")
    found = segments(submit)
    assert sum(size for _, _, size in found) == sum(map(len, expected().values()))
    least = sum(size for _, _, size in found[:-1]) / (8 * MIB)
    # A busy machine wakes the first one late; without a pace this is next to nothing.
    assert found[-1][0] - found[0][0] >= least / 4
    assert not list((submit / "bb" / "drain").glob("*.lease"))
    assert large.reservations() == []
    out = large.root / "report.json"
    sides = ("--pfs", str(submit), "--bb", str(submit))
    said = large.bb("report", *sides, "--json", str(out), check=True)
    assert "drained " in said.stdout
    (reported,) = json.loads(out.read_text())["runs"]["bb"]
    assert reported["drain"]["size"] == sum(size for _, _, size in found)
    assert reported["drain"]["peak"] > 0


def test_paced_results_have_until_the_last_job_and_those_of_it_no_time(
    large: Site,
) -> None:
    slow = {"read": "1MB/s", "write": "1MB/s"}
    speeds(large, pfs=FAST, bb=slow)
    submit = large.planned("bb", *PERSISTENT, "--bb-drain", "paced")
    note = json.loads((submit / "bb" / "drain.json").read_text())
    early, last = (note["windows"][name] for name in STAGE_OUTS)
    made, begin, end = early
    assert note["gate"] < made <= begin < end == note["end"] <= last[0] == last[2]
    large.finishes("bb")
    logs = {log.stem: log for log in (submit / "bb" / "drain").glob("*.jsonl")}
    assert set(logs) == set(STAGE_OUTS)


@pytest.mark.parametrize(
    ("options", "why"),
    [
        (("persistent", "paced"), "--bb-drain 32MiB/s"),
        (("transient", "paced"), "mode transient"),
        (("transient", "1MiB/s"), "mode transient"),
    ],
)
def test_what_cannot_be_is_refused_by_name_and_leaves_nothing(
    site: Site, options: tuple[str, str], why: str
) -> None:
    mode, drain = options
    said = site.refuses("bb", "--bb-mode", mode, "--bb-drain", drain)
    assert why in said
    site_of = ("--sites", "cluster", "--output-sites", "local")
    told = site.bb("explain", *site_of, "--bb-mode", mode, "--bb-drain", drain)
    assert (told.returncode, why in told.stderr) == (2, True), "as plan does"


@pytest.mark.parametrize(
    ("tier", "said"),
    [
        ({**FAST, "job_read": "1MB/s"}, "with --bb-drain paced"),
        (FAST, "nothing to win by pacing"),
    ],
)
def test_explain_says_what_pacing_would_win(
    site: Site, tier: dict[str, str], said: str
) -> None:
    """d.dat has left while E still reads a.dat for long, or not."""
    speeds(site, pfs=FAST, bb=tier)
    if said.startswith("with"):
        with site.edited("workflow.yml") as workflow:
            workflow["jobs"][4]["uses"].append({"lfn": "a.dat", "type": "input"})
            sizes = {"a.dat": 30_000_000, "d.dat": 10_000_000}
            for use in (use for job in workflow["jobs"] for use in job["uses"]):
                if use["type"] == "output" and use["lfn"] in sizes:
                    use["metadata"] = {"size": sizes[use["lfn"]]}
    options = ("--sites", "cluster", "--output-sites", "local")
    done = site.bb("explain", *options, *PERSISTENT, check=True)
    assert said in done.stdout
    document = site.bb("explain", *options, *PERSISTENT, "--json", check=True)
    gain = json.loads(document.stdout)["drain"]
    assert gain["wins"] == said.startswith("with")
    assert gain["peak_now"] >= gain["peak_paced"] > 0
