"""A mistake is one clear message, exit code 2, and nothing left behind."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tests.support.user_site import Site

Mistake = Callable[[Site], None]


def in_workflow(change: Callable[[dict[str, Any]], None]) -> Mistake:
    def make(site: Site) -> None:
        with site.edited("workflow.yml") as data:
            change(data)

    return make


def in_tier(**keys: Any) -> Mistake:
    return lambda site: site.declare(**keys)


def job(data: dict[str, Any], ident: str) -> dict[str, Any]:
    return next(j for j in data["jobs"] if j["id"] == ident)


def in_output(ident: str, **keys: Any) -> Mistake:
    return in_workflow(lambda data: job(data, ident)["uses"][-1].update(keys))


def undeclared_tier(site: Site) -> None:
    with site.edited("sites.yml") as sites:
        del sites["x-storage-tiers"]


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
        with site.edited("replicas.yml") as replicas:
            replicas["replicas"][0]["pfns"][0]["pfn"] = str(site.root / path)

    return make


def lost_input(site: Site) -> None:
    with site.edited("replicas.yml") as replicas:
        replicas["replicas"][0]["pfns"] = [{"site": "local", "pfn": "/nowhere/in.txt"}]


def lost_program(site: Site) -> None:
    with site.edited("transformations.yml") as catalog:
        catalog["transformations"][0]["sites"] = [staged("/usr/bin/no-such-mix")]


def staged(pfn: str) -> dict[str, str]:
    return {"name": "local", "pfn": pfn, "type": "stageable"}


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
        ["transformations.yml:", "(/usr/bin/no-such-mix)", "not on this machine"],
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
    "larger than the quota": (nothing, ["--bb-capacity", "1GiB"], ["quota", "64"]),
    "name with a keyword": (nothing, ["--bb-name", "hurryup"], ["hurry"]),
    "unknown setting": (nothing, ["-Dpegasus.bb.moed=off"], ["moed", "mode"]),
    "scratch of all runs": (nothing, ["--relative-dir", "."], ["--relative-dir '.'"]),
    "workflow called .": (rename_workflow("."), [], ["workflow.yml", "'.'"]),
    "id too long": (in_workflow(long_id), [], ["mix_xxx", "235 characters"]),
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
    "no Python": (nothing, ["--bb-python", "/bin/false"], ["start as a Python"]),
}


@pytest.mark.parametrize("name", NOT_HERE)
def test_plan_refuses_what_this_machine_lacks_unless_it_is_not_to_check(
    site: Site, name: str
) -> None:
    make, options, named = NOT_HERE[name]
    make(site)
    words = ["bb", "--bb-mode", "persistent", *options]
    said = site.refuses(*words)
    assert [part for part in (*named, "--no-check") if part not in said] == []
    assert not (site.root / "submit").exists()
    assert site.plan(*words, "--no-check").returncode == 0


def test_programs_that_are_not_installed_yet_are_a_note_as_pegasus_plans_them(
    site: Site,
) -> None:
    with site.edited("transformations.yml") as catalog:
        catalog["transformations"][0]["sites"] = [staged("/opt/not-yet/mix")]
    planned = site.plan("bb", "--bb-mode", "persistent")
    assert planned.returncode == 0, planned.stderr
    assert "not installed on this machine: mix (/opt/not-yet/mix)" in planned.stderr
    assert "install them before the run" in planned.stderr


@pytest.mark.parametrize("name", MISTAKES)
def test_a_mistake_is_named_and_leaves_nothing(site: Site, name: str) -> None:
    make, options, named = MISTAKES[name]
    make(site)
    said = site.refuses("bb", "--bb-mode", "persistent", *options)
    assert [part for part in named if part not in said] == []
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
    said = site.refuses(
        "bb",
        "--bb-mode",
        "off",
        "--relative-dir",
        "mine",
        "--output-dir",
        str(folder),
    )
    assert "removed at the end" in said
    assert "workflow.yml:" in said and "another --output-dir" in said.split("fix: ")[1]
    assert not (site.root / "submit").exists()


def test_an_error_in_a_catalog_names_file_line_and_key(site: Site) -> None:
    site.declare(access="diagonal")
    done = site.plan("bb", "--bb-mode", "persistent")
    text = (site.work / "sites.yml").read_text()
    line = text[: text.index("diagonal")].count("\n") + 1
    assert f"sites.yml:{line}:" in done.stderr
    assert "x-storage-tiers.cluster.0.access" in done.stderr
    assert "striped" in done.stderr
