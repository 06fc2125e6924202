"""A mistake is one clear message, exit code 2, and nothing left behind."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from .conftest import Site

Mistake = Callable[[Site], None]


def in_workflow(change: Callable[[dict[str, Any]], None]) -> Mistake:
    def make(site: Site) -> None:
        data = site.document("workflow.yml")
        change(data)
        site.save("workflow.yml", data)

    return make


def in_tier(**keys: Any) -> Mistake:
    return lambda site: site.declare(**keys)


def job(data: dict[str, Any], ident: str) -> dict[str, Any]:
    return next(j for j in data["jobs"] if j["id"] == ident)


def rename_lfn(new: str) -> Mistake:
    def change(data: dict[str, Any]) -> None:
        job(data, "A")["uses"][0]["lfn"] = new

    return in_workflow(change)


def without_size(data: dict[str, Any]) -> None:
    del job(data, "B")["uses"][-1]["metadata"]


def circle(data: dict[str, Any]) -> None:
    data["jobDependencies"] = [{"id": "E", "children": ["A"]}]


def second_producer(data: dict[str, Any]) -> None:
    job(data, "B")["uses"][-1]["lfn"] = "a.dat"


def unknown_program(data: dict[str, Any]) -> None:
    job(data, "C")["name"] = "nobody-has-this"


def sub_workflow(data: dict[str, Any]) -> None:
    entry = {"type": "pegasusWorkflow", "file": "inner.yml", "id": "W", "uses": []}
    data["jobs"].append(entry)


def no_replicas(site: Site) -> None:
    site.save("replicas.yml", {"pegasus": "5.0", "replicas": []})


def undeclared_tier(site: Site) -> None:
    sites = site.document("sites.yml")
    del sites["x-storage-tiers"]
    site.save("sites.yml", sites)


def broken_yaml(site: Site) -> None:
    (site.work / "workflow.yml").write_text("name: x\n jobs: [")


def nothing(site: Site) -> None:
    """The mistake is on the command line."""


MISTAKES: dict[str, tuple[Mistake, list[str], list[str]]] = {
    "unknown tier": (nothing, ["--bb-tier", "lustre"], ["lustre", "bb"]),
    "no tier declared": (undeclared_tier, [], ["x-storage-tiers", "cluster"]),
    "unknown key of a tier": (in_tier(capcity="1GiB"), [], ["capcity", "capacity"]),
    "unknown backend": (in_tier(backend="tape"), [], ["tape", "directory"]),
    "decimal capacity in the tier": (in_tier(capacity="3.5TB"), [], ["3.5TB"]),
    "decimal capacity as an option": (nothing, ["--bb-capacity", "1.5GiB"], ["1.5GiB"]),
    "capacity of zero": (nothing, ["--bb-capacity", "0"], ["0"]),
    "capacity below need": (nothing, ["--bb-capacity", "100K"], ["capacity"]),
    "larger than the quota": (nothing, ["--bb-capacity", "1GiB"], ["quota", "64"]),
    "size unknown": (in_workflow(without_size), [], ["b.dat", "--bb-capacity"]),
    "name with a blank": (nothing, ["--bb-name", "my buffer"], ["my buffer"]),
    "name with a keyword": (nothing, ["--bb-name", "hurryup"], ["hurry"]),
    "name that begins with a digit": (nothing, ["--bb-name", "7up"], ["7up"]),
    "tier's name": (in_tier(name="b b"), [], ["b b"]),
    "LFN that leads out": (rename_lfn("../in.txt"), [], ["../in.txt"]),
    "absolute LFN": (rename_lfn("/etc/passwd"), [], ["/etc/passwd"]),
    "LFN with a newline": (rename_lfn("a\nb"), [], ["control character"]),
    "missing replica": (no_replicas, [], ["in.txt", "replica"]),
    "missing transformation": (
        in_workflow(unknown_program),
        [],
        ["nobody-has-this", "transformation"],
    ),
    "circle": (in_workflow(circle), [], ["circle", "E -> A"]),
    "two producers": (in_workflow(second_producer), [], ["a.dat", "A", "B"]),
    "sub-workflow": (in_workflow(sub_workflow), [], ["pegasusWorkflow", "pegasus"]),
    "broken YAML": (broken_yaml, [], ["workflow.yml"]),
    "unknown setting": (nothing, ["-Dpegasus.bb.moed=off"], ["moed", "mode"]),
    "mode of a later version": (nothing, ["--bb-mode", "hybrid"], ["hybrid"]),
    "unknown site": (nothing, ["--sites", "mars"], ["mars", "cluster"]),
    "option of the real planner only": (
        nothing,
        ["--cluster", "horizontal"],
        ["--cluster"],
    ),
    "unknown cleanup": (nothing, ["--cleanup", "constraint"], ["constraint"]),
    "data configuration": (
        nothing,
        ["-Dpegasus.data.configuration=condorio"],
        ["condorio", "sharedfs"],
    ),
    "placement file that is not there": (
        nothing,
        ["--bb-placement", "no.yml"],
        ["no.yml"],
    ),
}


@pytest.mark.parametrize("name", MISTAKES)
def test_a_mistake_is_named_and_leaves_nothing(site: Site, name: str) -> None:
    make, options, words = MISTAKES[name]
    make(site)
    done = site.plan("bb", "--bb-mode", "persistent", *options)
    assert done.returncode == 2, done.stdout + done.stderr
    for word in words:
        assert word in done.stderr
    assert "Traceback" not in done.stderr
    left = site.root / "submit"
    assert not left.exists() or list(left.iterdir()) == []


def test_an_error_in_a_catalog_names_file_line_and_key(site: Site) -> None:
    site.declare(access="diagonal")
    done = site.plan("bb", "--bb-mode", "persistent")
    line = next(
        number
        for number, text in enumerate(
            (site.work / "sites.yml").read_text().splitlines(), start=1
        )
        if "diagonal" in text
    )
    assert f"sites.yml:{line}:" in done.stderr
    assert "x-storage-tiers.cluster.0.access" in done.stderr
    assert "striped" in done.stderr


def test_results_that_would_go_with_the_buffer_are_refused(site: Site) -> None:
    done = site.bb("plan", "--sites", "cluster", "--bb-mode", "persistent")
    assert done.returncode == 2
    assert "--output-sites" in done.stderr


def test_an_existing_submit_directory_is_not_written_over(site: Site) -> None:
    folder = site.planned("bb", "--bb-mode", "persistent")
    before = (folder / "bb" / "request.json").read_bytes()
    again = site.plan("bb", "--bb-mode", "persistent")
    assert again.returncode == 2
    assert "--force" in again.stderr
    assert (folder / "bb" / "request.json").read_bytes() == before
    assert site.plan("bb", "--bb-mode", "persistent", "--force").returncode == 0
    assert (folder / "bb" / "request.json").read_bytes() != before
