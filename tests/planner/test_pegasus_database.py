"""Pegasus's database of a user's runs is whole before the first pegasus-plan starts."""

from __future__ import annotations

import shlex
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from pegasus_bb.planner.pegasus.user_database import make_user_database
from tests.planner.pegasus_user import FAKE, User
from tests.support.real_pegasus import HOME, MARKS

# Makes one table, awaits as many callers as the test has, and makes the other table.
CREATE = """\
part="${2#sqlite:///}"; echo one > "$part"; echo called >> "$HOME/db-admin"
until [ "$(wc -l < "$HOME/db-admin")" -ge "$CALLERS" ]; do sleep 0.01; done
echo two >> "$part\""""
# As the real pegasus-plan, it fails if the first table is there and the other is not.
CHECK = """[ "$(tr -d '\\n' < "$HOME/.pegasus/workflow.db")" = onetwo ] || exit 1"""
PLAN = f'{CHECK}\nexec {shlex.quote(sys.executable)} {shlex.quote(str(FAKE))} "$@"'


@pytest.fixture
def user(tmp_path: Path) -> User:
    user = User(tmp_path)
    user.tool("pegasus-db-admin", CREATE)
    user.tool("pegasus-plan", PLAN)
    user.environment["CALLERS"] = "1"
    return user


def left(user: User) -> list[str]:
    return [path.name for path in (user.root / ".pegasus").iterdir()]


def calls(user: User) -> int:
    file = user.root / "db-admin"
    return len(file.read_text().splitlines()) if file.exists() else 0


def well(done: subprocess.CompletedProcess[str]) -> None:
    assert done.returncode == 0, done.stdout + done.stderr


def test_two_first_plans_side_by_side_both_succeed(user: User) -> None:
    user.environment["CALLERS"] = "2"
    with ThreadPoolExecutor(2) as pool:
        words = [("--relative-submit-dir", run) for run in ("r1", "r2")]
        for done in pool.map(lambda run: user.on_tier(*run), words):
            well(done)
    assert (left(user), calls(user)) == (["workflow.db"], 2)
    assert (user.root / ".pegasus/workflow.db").stat().st_mode & 0o777 == 0o600


def test_a_later_plan_leaves_it_as_it_is(user: User) -> None:
    well(user.on_tier())
    well(user.on_tier("--force"))
    assert calls(user) == 1


def test_mode_off_makes_it_too(user: User) -> None:
    user.tool("pegasus-plan", CHECK)
    well(user.try_plan("off"))
    assert left(user) == ["workflow.db"]


@pytest.mark.parametrize("key", ["catalog.master.url", "dashboard.output"])
def test_a_user_with_a_database_elsewhere_gets_none(user: User, key: str) -> None:
    user.tool("pegasus-plan", PLAN.splitlines()[1])
    well(user.on_tier(f"-Dpegasus.{key}=sqlite:////elsewhere.db"))
    assert calls(user) == 0
    assert not (user.root / ".pegasus").exists()


def test_if_it_cannot_be_made_pegasus_plan_says_why(user: User) -> None:
    user.tool("pegasus-db-admin", f"{CREATE}; exit 1")
    user.tool("pegasus-plan", "echo no database >&2; exit 1")
    done = user.on_tier()
    assert done.returncode == 2
    assert "no database" in done.stderr
    assert left(user) == []


class TestReal:
    pytestmark = MARKS

    def test_the_real_pegasus_accepts_it(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        assert HOME is not None
        monkeypatch.setenv("HOME", str(tmp_path))
        make_user_database(HOME, {})
        database = tmp_path / ".pegasus" / "workflow.db"
        argv = [HOME.tool("pegasus-db-admin"), "check", f"sqlite:///{database}"]
        well(subprocess.run(argv, capture_output=True, text=True))
