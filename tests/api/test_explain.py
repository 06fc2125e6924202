"""What explain shows: data first, then the command."""

from __future__ import annotations

import json

import click
import pytest
from click.testing import CliRunner, Result

from pegasus_bb.cli.check import command as check
from pegasus_bb.cli.explain import command
from pegasus_bb.cli.plan import command as plan
from pegasus_bb.core.errors import CatalogError
from pegasus_bb.core.units import MIB
from tests.support.user_files import User, job, use


@pytest.fixture
def here(user: User, monkeypatch: pytest.MonkeyPatch) -> User:
    for lfn in ("in.txt", "ref.txt"):
        user.replicas[lfn] = [{"site": "far", "pfn": f"http://far/{lfn}"}]
    user.read()
    monkeypatch.chdir(user.folder)
    monkeypatch.setenv("HOME", str(user.folder))
    return user


@pytest.fixture
def local(here: User) -> User:
    """All that a planning needs is on this machine."""
    for lfn in ("in.txt", "ref.txt"):
        (here.folder / lfn).write_text("")
        here.replicas[lfn] = [{"site": "local", "pfn": str(here.folder / lfn)}]
    installed = {"type": "installed", "pfn": "/bin/true"}
    sites = [{"name": site, **installed} for site in ("local", "cluster")]
    here.transformations = [{"name": "work", "sites": sites}]
    here.tier = {"backend": "directory", "path": str(here.folder)}
    here.read()
    return here


def explain(*words: str) -> Result:
    return CliRunner().invoke(command, words)


def test_files_of_one_rule_are_one_line(here: User) -> None:
    result = explain("--sites", "cluster", "workflow.yml")
    assert result.exit_code == 0, result.output
    head, *rest = result.output.splitlines()
    assert head.split() == ["files", "size", "tier", "how", "reason"]
    made = next(line for line in rest if "not staged out" in line)
    assert made.split()[:2] == ["1", "file"]
    every = json.loads(explain("--json").stdout)["files"]
    assert sum(int(line.split()[0]) for line in rest[: rest.index("")]) == len(every)


def test_the_command_speaks_json(here: User) -> None:
    result = explain("--json")
    data = json.loads(result.stdout)
    assert data["files"][0] == {
        "lfn": "in.txt",
        "role": "input",
        "tier": "bb",
        "how": "copy",
        "size": 100,
        "reason": "an input: tier bb of site cluster says inputs: stage",
        "lifetime": 1,
        "seconds": None,
        "cohort": 1,
        "pool": "",
        "stream": "",
    }
    assert data["capacity"] == 4 * MIB
    assert (data["any_order"], data["planned_order"]) == (360, 260)


def test_the_table_comes_before_the_refusal_and_names_every_unknown_file(
    here: User,
) -> None:
    uses = [use("in.txt", "input"), *(use(f"f{n:02}", "output") for n in range(12))]
    here.jobs = [job("ID1", *uses)]
    here.replicas = {"in.txt": [{"site": "far", "pfn": "http://far/in.txt"}]}
    here.read()
    result = explain("--files")
    assert isinstance(result.exception, CatalogError)
    assert result.exception.exit_code == 2
    assert "f10" not in str(result.exception)  # an error names the first, the table all
    unknown = [f"f{n:02}" for n in range(12)]
    assert "not counted: f00, f01, f02 and 10 more\n" in result.output
    assert "for 13: f00, f01, f02, " in str(result.exception)
    assert all(f"\n{lfn} " in result.output for lfn in unknown)
    assert "capacity: none" in result.output
    shown = json.loads(explain("--json").stdout)
    assert (shown["capacity"], len(shown["unknown"])) == (None, 13)


def test_a_command_line_of_plan_explains(here: User) -> None:
    words = "-s cluster -o local -O out --dir submit --relative-submit-dir r -f -S -q"
    words += " --relative-dir r --cleanup leaf -v --cluster horizontal workflow.yml"
    words += " --bb-placement p.yml --bb-capacity 8MiB"
    (here.folder / "p.yml").write_text("'*': pfs\n")
    result = explain(*words.split())
    assert result.exit_code == 0, result.output
    assert "capacity: 8.0 MiB (as given" in result.output
    assert "p.yml says *: pfs" in result.output
    assert not (here.folder / "submit").exists()
    nowhere = explain("--output-sites", "mars")
    assert "mars" in str(nowhere.exception)


def test_without_a_mode_a_note_says_that_plan_would_use_no_tier(
    here: User,
) -> None:
    unsaid = explain()
    assert "this shows mode persistent; plan would take mode off" in (unsaid.stderr)
    assert explain("--bb-mode", "persistent").stderr == ""


@pytest.mark.parametrize("which", [command, check, plan], ids=lambda one: one.name)
@pytest.mark.parametrize(
    ("words", "why"),
    [
        (["--bb-job-tier", "bb"], "--bb-job-tier is for --bb-mode hybrid"),
        (["--bb-fallback", "pfs"], "--bb-fallback pfs is for --bb-mode persistent"),
    ],
)
def test_each_command_refuses_an_option_of_another_mode(
    local: User, which: click.Command, words: list[str], why: str
) -> None:
    told = CliRunner().invoke(which, [*DRY[2:], "--bb-mode", "transient", *words])
    assert why in f"{told.output} {told.exception}"
    assert told.exit_code != 0


DRY = ["--bb-mode", "persistent", "-o", "local", "-O", "out", "--dir", "submit"]


def test_a_dry_run_of_plan_says_the_same_and_writes_nothing(local: User) -> None:
    explained = explain(*DRY, "workflow.yml")
    before = sorted(local.folder.iterdir())
    dry = CliRunner().invoke(plan, ["--dry-run", *DRY, "workflow.yml"])
    assert dry.exit_code == 0, dry.output
    assert dry.stdout == explained.stdout
    assert sorted(local.folder.iterdir()) == before
