"""plan, explain and compare for a program say what the commands say."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import fields
from pathlib import Path

import orjson
import pytest
from click.testing import CliRunner

import pegasus_bb
from pegasus_bb import compare, explain, plan
from pegasus_bb.api.keywords import Keywords
from pegasus_bb.cli import cli
from pegasus_bb.core.errors import UsageError
from pegasus_bb.model.settings import Settings
from pegasus_bb.report.render import WIDTH
from tests.planner.pegasus_user import User as PegasusUser
from tests.support.page_html import Balanced
from tests.support.user_files import User

GIVEN = {"bb_mode": "persistent", "output_sites": "local", "output_dir": "out"}
RECORDED = Path(__file__).parent.parent / "recorded/kickstart/gated"
SAID = ["--bb-mode", "persistent", "-o", "local", "-O", "out"]


@pytest.fixture
def here(user: User, monkeypatch: pytest.MonkeyPatch) -> User:
    """A user's folder with all that a planning needs; none of its names is harmless."""
    monkeypatch.chdir(user.folder)
    monkeypatch.setenv("HOME", str(user.folder))
    for lfn in ("in.txt", "ref.txt"):
        (user.folder / lfn).write_text("")
        user.replicas[lfn] = [{"site": "local", "pfn": str(user.folder / lfn)}]
    sites = [{"name": "cluster", "type": "installed", "pfn": "/bin/true"}]
    user.transformations = [{"name": "work", "sites": sites}]
    user.tier = {"backend": "directory", "path": str(user.folder)}
    user.read()
    return user


@pytest.fixture
def run() -> Path:
    return RECORDED


def said(*words: str) -> str:
    done = CliRunner().invoke(cli, [*words], catch_exceptions=False)
    assert done.exit_code == 0, done.output
    return done.stdout


def is_fragment(html: str) -> bool:
    Balanced().feed(html)  # fails if a tag is not closed
    return html.startswith("<div") and html.endswith("</div>")


def test_explain_says_what_the_command_says(here: User) -> None:
    found = explain("workflow.yml", **GIVEN)
    assert str(found) == said("explain", *SAID).rstrip("\n")
    document = json.loads(orjson.dumps(found.to_json()))
    assert document == json.loads(said("explain", *SAID, "--json"))
    assert found.refused is None
    assert repr(found) == "<WorkflowExplanation: w, 5 files, tier bb of cluster>"


def test_plan_writes_what_the_command_writes(here: User) -> None:
    planned = plan(**GIVEN, dir="submit", relative_submit_dir="first")
    assert planned.submit_dir == here.folder / "submit/first"
    assert (planned.submit_dir / "w-0.dag").is_file()
    assert (planned.workflow, planned.mode) == ("w", "persistent")
    assert planned.request is not None
    assert planned.request.capacity == 4 << 20
    assert "mode:     persistent (an argument)" in planned.summary
    assert planned.command in str(planned)
    assert is_fragment(planned._repr_html_())
    assert planned.command in planned._repr_html_()


@pytest.fixture
def of_pegasus(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> PegasusUser:
    found = PegasusUser(tmp_path)
    for name, value in found.environment.items():
        monkeypatch.setenv(name, value)
    monkeypatch.chdir(found.work)
    return found


def test_a_real_pegasus_plans(of_pegasus: PegasusUser) -> None:
    options = {"sites": "cori", "output_sites": ["local"], "dir": "submit"}
    planned = plan(**options, relative_submit_dir="r", bb_mode="persistent")
    assert planned.submit_dir == of_pegasus.submit
    assert planned.planner.startswith("planner:  pegasus-plan 5.1.2 in ")
    assert planned.request is not None
    calls = of_pegasus.calls()
    for option, value in {"--sites": "cori", "--output-sites": "local"}.items():
        assert calls[calls.index(option) + 1] == value


def test_compare_says_what_the_command_says(
    run: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", str(WIDTH))
    found = compare(bb=run)
    assert str(found) == said("report", "--bb", str(run))
    assert found.headline in str(found)
    assert repr(found) == f"<RunComparison: {found.headline}>"
    assert is_fragment(found._repr_html_())
    assert found.headline in found._repr_html_()
    assert found.to_json()["headline"] == found.headline


def test_keywords_are_the_options_of_plan() -> None:
    names = set(Keywords.__annotations__)
    ours = {name for name in names if name.startswith("bb_")}
    assert ours == {f"bb_{field.name}" for field in fields(Settings)}
    command = cli.get_command(None, "plan")  # type: ignore[arg-type]
    assert command is not None
    options = {opt for param in command.params for opt in param.opts}
    renamed = {"properties": "-D", "input_dirs": "--input-dir"}
    renamed["staging_sites"] = "--staging-site"
    for name in names:
        assert renamed.get(name, f"--{name.replace('_', '-')}") in options


def test_files_that_are_made_later_are_planned_for_without_a_check(here: User) -> None:
    (here.folder / "in.txt").unlink()
    options = {**GIVEN, "bb_capacity": "8MiB", "dir": here.folder / "submit"}
    with pytest.raises(UsageError, match=r"not where the catalog says: in\.txt"):
        plan(**options)
    assert not (here.folder / "submit").exists()
    assert plan(**options, check=False).submit_dir.is_dir()


@pytest.mark.parametrize(
    ("closed", "words"),
    [("in.txt", "you may not read in.txt"), ("out", "you may not write to")],
)
def test_what_the_user_may_not_use_is_refused_before_the_run(
    here: User, monkeypatch: pytest.MonkeyPatch, closed: str, words: str
) -> None:
    folder = here.folder / "out"
    folder.mkdir()
    monkeypatch.setattr(os, "access", lambda path, mode: Path(path).name != closed)
    options = {**GIVEN, "bb_capacity": "8MiB", "dir": here.folder / "submit"}
    with pytest.raises(UsageError, match=words):
        plan(**{**options, "output_dir": folder})
    assert not (here.folder / "submit").exists()


def test_importing_the_package_loads_nothing_else() -> None:
    """Programs on compute nodes import it each time."""
    root = str(Path(pegasus_bb.__file__).parent.parent)
    story = f"import sys; sys.path.insert(0, {root!r}); before = set(sys.modules)\n"
    story += "import pegasus_bb; print(*set(sys.modules) - before)"
    argv = [sys.executable, "-I", "-S", "-c", story]
    done = subprocess.run(argv, capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["pegasus_bb"]
