"""A mistake is one clear message, exit code 2, and nothing left behind."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tests.support.user_site import Site

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


def in_job(ident: str, **keys: Any) -> Mistake:
    return in_workflow(lambda data: job(data, ident).update(keys))


def in_output(ident: str, **keys: Any) -> Mistake:
    return in_workflow(lambda data: job(data, ident)["uses"][-1].update(keys))


def no_replicas(site: Site) -> None:
    site.save("replicas.yml", {"pegasus": "5.0", "replicas": []})


def undeclared_tier(site: Site) -> None:
    sites = site.document("sites.yml")
    del sites["x-storage-tiers"]
    site.save("sites.yml", sites)


def broken_yaml(site: Site) -> None:
    (site.work / "workflow.yml").write_text("name: x\n jobs: [")


def rename_workflow(new: str) -> Mistake:
    return in_workflow(lambda data: data.update(name=new))


def long_id(data: dict[str, Any]) -> None:
    data["jobs"].append({**job(data, "A"), "id": "x" * 240, "uses": []})


def not_text(site: Site) -> None:
    (site.work / "replicas.yml").write_bytes(b"pegasus: '5.0'\nreplicas: [\xff]\n")


def explosion(site: Site) -> None:
    """Each variable is the one before, ten times."""
    site.environment["V0"] = ""
    for n in range(1, 20):
        site.environment[f"V{n}"] = f"${{V{n - 1}}}" * 10 + "x"
    in_workflow(lambda data: data.update({"x-note": "${V19}"}))(site)


def input_at(path: str) -> Mistake:
    """``alias`` is a link to the folder of the results."""

    def make(site: Site) -> None:
        (site.root / "alias").symlink_to(site.results("bb"))
        replicas = site.document("replicas.yml")
        replicas["replicas"][0]["pfns"][0]["pfn"] = str(site.root / path)
        site.save("replicas.yml", replicas)

    return make


def old_python(site: Site) -> None:
    """A script plays it: it answers as Python 2.7 does."""
    (site.work / "python").write_text("#!/bin/sh\necho 2 7\n")
    (site.work / "python").chmod(0o755)
    conf = f"pegasus.bb.python = {site.work}/python\n"
    (site.work / "pegasus.properties").write_text(conf)


def all_pinned(site: Site) -> None:
    (site.work / "pinned.yml").write_text("'*': bb\n")
    site.declare(granularity="1KiB")


def lost_input(site: Site) -> None:
    replicas = site.document("replicas.yml")
    replicas["replicas"][0]["pfns"] = [{"site": "local", "pfn": "/nowhere/in.txt"}]
    site.save("replicas.yml", replicas)


def lost_program(site: Site) -> None:
    catalog = site.document("transformations.yml")
    catalog["transformations"][0]["sites"][0]["pfn"] = "/nowhere/mix"
    site.save("transformations.yml", catalog)


def no_room(site: Site) -> None:
    site.declare(quota="900TiB")


# What this machine can see, and only --no-check plans all the same.
NOT_HERE: dict[str, tuple[Mistake, list[str], list[str]]] = {
    "input that is gone": (
        lost_input,
        ["--bb-capacity", "16MiB"],
        ["replicas.yml:", "in.txt"],
    ),
    "program that is gone": (
        lost_program,
        [],
        ["transformations.yml:", "(/nowhere/mix)", "not on this machine"],
    ),
    "capacity above the file system": (
        no_room,
        ["--bb-capacity", "800TiB"],
        ["sites.yml:", "free, less than 800.0 TiB"],
    ),
    "tier below a file": (
        in_tier(path="/etc/passwd/bb"),
        [],
        ["sites.yml:", "tier bb: /etc/passwd is no folder"],
    ),
}


def nothing(site: Site) -> None:
    """The mistake is on the command line."""


MISTAKES: dict[str, tuple[Mistake, list[str], list[str]]] = {
    "unknown tier": (nothing, ["--bb-tier", "lustre"], ["lustre", "bb"]),
    "no tier declared": (undeclared_tier, [], ["x-storage-tiers", "cluster"]),
    "decimal capacity as an option": (nothing, ["--bb-capacity", "1.5GiB"], ["1.5GiB"]),
    "capacity below what is pinned": (
        all_pinned,
        ["--bb-placement", "pinned.yml", "--bb-capacity", "100K"],
        ["capacity", "is below what"],
    ),
    "larger than the quota": (nothing, ["--bb-capacity", "1GiB"], ["quota", "64"]),
    "size unknown": (
        in_output("B", metadata={}),
        ["--bb-mode", "transient"],
        ["b.dat", "--bb-capacity"],
    ),
    "name with a keyword": (nothing, ["--bb-name", "hurryup"], ["hurry"]),
    "missing replica": (no_replicas, [], ["in.txt", "has no replica"]),
    "missing transformation": (
        in_job("C", name="not-in-the-catalog"),
        [],
        ["not-in-the-catalog", "transformation"],
    ),
    "two producers": (in_output("B", lfn="a.dat"), [], ["a.dat", "A", "B"]),
    "broken YAML": (broken_yaml, [], ["workflow.yml"]),
    "unknown setting": (nothing, ["-Dpegasus.bb.moed=off"], ["moed", "mode"]),
    "unknown mode": (nothing, ["--bb-mode", "mixed"], ["mixed", "hybrid"]),
    "scratch of all runs": (nothing, ["--relative-dir", "."], ["--relative-dir '.'"]),
    "workflow called .": (rename_workflow("."), [], ["workflow.yml", "'.'"]),
    "id too long": (in_workflow(long_id), [], ["mix_xxx", "235 characters"]),
    "word of submit files": (
        in_job("A", profiles={"condor": {"Include": "true"}}),
        [],
        ["Include", "submit files"],
    ),
    "catalog that is no text": (not_text, [], ["replicas.yml", "UTF-8"]),
    "variables that explode": (explosion, [], ["workflow.yml", "characters", "V"]),
    "input in the run's folder": (
        input_at("pfs/mine/in.txt"),
        ["--relative-dir", "mine", "--bb-capacity", "16MiB"],
        ["'in.txt'", "mine", "removed at the end"],
    ),
    "input where a result goes": (
        input_at("alias/d.dat"),
        ["--bb-capacity", "16MiB"],
        ["'in.txt'", "'d.dat'", "--output-dir"],
    ),
    "Python too old for jobs": (
        old_python,
        [],
        ["pegasus.bb.python", "Python 2.7", "3.9", "pegasus.properties:1"],
    ),
    "no Python": (nothing, ["--bb-python", "/bin/false"], ["start as a Python"]),
}


@pytest.mark.parametrize("name", NOT_HERE)
def test_plan_refuses_what_this_machine_lacks_unless_it_is_not_to_check(
    site: Site, name: str
) -> None:
    make, options, named = NOT_HERE[name]
    make(site)
    words = ["bb", "--bb-mode", "persistent", *options]
    done = site.plan(*words)
    assert done.returncode == 2, done.stdout + done.stderr
    assert [part for part in (*named, "--no-check") if part not in done.stderr] == []
    assert not (site.root / "submit").exists()
    assert site.plan(*words, "--no-check").returncode == 0


@pytest.mark.parametrize("name", MISTAKES)
def test_a_mistake_is_named_and_leaves_nothing(site: Site, name: str) -> None:
    make, options, named = MISTAKES[name]
    make(site)
    done = site.plan("bb", "--bb-mode", "persistent", *options)
    assert done.returncode == 2, done.stdout + done.stderr
    assert [part for part in named if part not in done.stderr] == []
    assert "Traceback" not in done.stderr
    left = site.root / "submit"
    assert not left.exists() or list(left.iterdir()) == []


@pytest.mark.parametrize("where", ["pfs/mine/out", "pfs"])
def test_results_do_not_go_where_the_run_cleans_up(site: Site, where: str) -> None:
    """Also by another spelling of the folder, and where they would be above it."""
    (site.root / "pfs").mkdir()
    (site.root / "alias").symlink_to(site.root / "pfs")
    if where == "pfs":
        in_output("E", lfn="mine")(site)
    folder = site.root / where.replace("pfs", "alias")
    done = site.plan(
        "bb",
        "--bb-mode",
        "off",
        "--relative-dir",
        "mine",
        "--output-dir",
        str(folder),
    )
    assert done.returncode == 2, done.stdout + done.stderr
    assert "removed at the end" in done.stderr
    assert not (site.root / "submit").exists()


def test_an_error_in_a_catalog_names_file_line_and_key(site: Site) -> None:
    site.declare(access="diagonal")
    done = site.plan("bb", "--bb-mode", "persistent")
    text = (site.work / "sites.yml").read_text()
    line = text[: text.index("diagonal")].count("\n") + 1
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
