"""A shared input comes once to a node: from the key of the tier to the report."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path
from typing import Any

import pytest

from pegasus_bb.report.run_folder import read_run
from tests.support.user_site import Site

SIZE = 300_000
BIG = b"ACGT" * (SIZE // 4)
READERS = [f"R{number}" for number in range(8)]


@pytest.fixture(autouse=True)
def disk(site: Site) -> Path:
    """Eight jobs read one large input, and one makes a result of all they make."""
    (site.root / "inputs" / "big.dat").write_bytes(BIG)
    site.write()
    site.save("workflow.yml", _workflow())
    folder = site.has_disks(mount="any", granularity="1MiB")
    folder.chmod(0o755)
    return folder


def _workflow() -> dict[str, Any]:
    def job(ident: str, inputs: list[str], output: str) -> dict[str, Any]:
        read = [{"lfn": lfn, "type": "input"} for lfn in inputs]
        made = {"lfn": output, "type": "output", "registerReplica": False}
        made |= {"stageOut": output == "all.dat", "metadata": {"size": 4 * SIZE}}
        uses = [*read, made]
        arguments = [output, *inputs]
        return {
            "type": "job",
            "name": "mix",
            "id": ident,
            "arguments": arguments,
            "uses": uses,
        }

    readers = [job(ident, ["big.dat", "in.txt"], f"{ident}.dat") for ident in READERS]
    second = job("S", ["R0.dat", "big.dat"], "S.dat")
    last = job("Z", ["S.dat", *(f"{ident}.dat" for ident in READERS[1:])], "all.dat")
    return {"pegasus": "5.0.4", "name": "shared", "jobs": [*readers, second, last]}


def planned(site: Site, run: str, *more: str) -> Path:
    return site.planned(run, "--bb-mode", "transient", "--bb-poll", "1s", *more)


def shared(folder: Path) -> dict[str, Any]:
    """Job -> its inputs that other jobs read, by the plan."""
    files = (folder / "bb/nodes").glob("*.json")
    notes = [json.loads(file.read_text())["reservation"] for file in files]
    return {note["job"]: note["shared"] for note in notes if "shared" in note}


OF_A_PLANNING = {"planned_by.json", "braindump.yml", "runtime.zip"}


def tree(folder: Path) -> dict[str, str]:
    """The files of a submit directory, without what is of one planning alone."""
    files = (path for path in folder.rglob("*") if path.is_file())
    uuid = json.loads((folder / "bb/transient.json").read_text())["uuid"]
    begun = re.search(r"-T (\S+)", (folder / "00/00/mix_R0.sub").read_text())
    assert begun is not None
    texts = {}
    for path in (path for path in files if path.name not in OF_A_PLANNING):
        name = re.sub(r"^pegasus\.\d+", "pegasus", str(path.relative_to(folder)))
        text = path.read_text().replace(begun[1], "")
        for own in (uuid, uuid.replace("-", "")[:12], uuid[:8]):
            text = text.replace(own, "")
        texts[name] = re.sub(r"\b20\d{6}T\d{6}\S*|\b1\d{9}\.\d+", "", text)
    return texts


def results(site: Site, run: str) -> bytes:
    (found,) = site.content(run).values()
    return found


def test_a_cache_that_saves_nothing_is_called_so(site: Site, disk: Path) -> None:
    words = ("--bb-mode", "transient")
    for keys, line in (
        ({"cache": "10KiB"}, "reads 0 B less; too small for big.dat"),
        ({"path": "$TMPDIR"}, "none: path names $TMPDIR, a folder of one job"),
    ):
        site.declare(**{"cache": "10MiB", **keys})
        told = site.bb("explain", *words).stdout
        assert line in next(row for row in told.splitlines() if "cache:" in row)
    assert "cache:" not in site.bb("explain", "--bb-mode", "persistent").stdout


def test_it_comes_once_and_the_report_says_what_that_saves(
    site: Site, disk: Path
) -> None:
    planned(site, "plain")
    assert site.run("plain").returncode == 0
    assert list(disk.iterdir()) == []
    site.declare(cache="10MiB")
    told = site.plan("cached", "--bb-mode", "transient", "--bb-poll", "1s")
    saved = 8 * SIZE  # of nine readers
    line = "cache:    1 file of several jobs, 293.0 KiB, once a node"
    assert f"{line}; a node that runs all jobs reads 2.3 MiB less" in told.stderr
    folder = site.submit_dir("cached")
    assert shared(folder) == {job: {"big.dat": ""} for job in [*READERS, "S"]}
    assert site.run("cached").returncode == 0
    assert results(site, "cached") == results(site, "plain")
    run = read_run(folder)
    assert (run.cached, run.cached_bytes) == (8, saved)
    assert [path.name for path in disk.iterdir()] == [cache_name()]
    shows_it(site, folder)


def shows_it(site: Site, folder: Path) -> None:
    plain = str(site.submit_dir("plain"))
    page = site.root / "report.html"
    words = ("report", "--pfs", plain, "--bb", str(folder))
    written = ("--html", str(page), "--json", str(site.root / "report.json"))
    text = site.bb(*words, *written, check=True).stdout
    (row,) = [x for x in text.splitlines() if x.startswith(" found in caches")]
    assert row.split()[-2:] == ["2.3", "MiB"]
    document = json.loads((site.root / "report.json").read_text())
    assert document["staging"]["cached"]["bb"]["mean"] == 8
    assert document["staging"]["cached_bytes"]["pfs"] is None
    assert document["runs"]["bb"][0]["cached_bytes"] == 8 * SIZE
    assert "found in caches" in page.read_text()
    explained = site.bb("explain", "--bb-mode", "transient", "workflow.yml").stdout
    assert "cache:    1 file of several jobs" in explained


def cache_name() -> str:
    return f"pegasus_bb-cache.{os.uname().nodename}.{os.geteuid()}"


def test_without_the_key_a_submit_directory_is_as_it_was(site: Site) -> None:
    before = tree(planned(site, "run", "--force"))
    site.declare(cache="10MiB")
    changed = tree(planned(site, "run", "--force"))
    with site.edited("sites.yml") as sites:
        del sites["x-storage-tiers"]["cluster"][0]["cache"]
    again = tree(planned(site, "run", "--force"))
    assert again == before
    assert "cache" not in str(before["bb/transient.json"])
    of_nodes = {f"bb/nodes/mix_{ident}.json" for ident in [*READERS, "S"]}
    differing = {name for name in before if before[name] != changed[name]}
    assert differing - {"catalogs/sites.yml"} == {*of_nodes, "bb/transient.json"}
