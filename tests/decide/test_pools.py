"""Which pool of a tier each file goes to, and why."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from pegasus_bb.decide import pool_choice
from pegasus_bb.decide.pool_choice import PoolUse, pool_use
from tests.support.user_files import User


@pytest.fixture
def long(chain: User) -> User:
    chain.tier = {"backend": "directory", "path": f"{chain.folder}/fast"}
    return chain


def pools(user: User, *declared: dict[str, Any]) -> dict[str, str]:
    """LFN -> pool."""
    user.tier["pools"] = [{"path": each["name"], **each} for each in declared]
    return {f.lfn: f.pool for f in user.decide().files.values()}


def occupy(user: User, pool: str, *runs: str) -> None:
    for run in runs:
        Path(user.tier["path"], pool, run).mkdir(parents=True)


def test_files_go_to_the_pool_of_their_class(long: User) -> None:
    found = pools(long, {"name": "s", "class": "short"}, {"name": "l", "class": "long"})
    assert found == {"in": "s", "a": "s", "b": "s", "c": "s", "out": "s", "kept": "l"}
    reason = long.placed("kept").reason
    assert reason.endswith("; pool l (long: it lives 4 of 4 levels)")


def test_where_no_pool_is_for_it_a_file_stays_in_the_reservation(long: User) -> None:
    found = pools(long, {"name": "l", "class": "long"})
    assert (found["a"], found["kept"]) == ("", "l")
    assert "in no pool: none for short lives has room" in long.placed("a").reason


def test_a_pool_takes_no_more_than_its_capacity(long: User) -> None:
    found = pools(
        long,
        {"name": "one", "class": "short", "capacity": "25"},
        {"name": "two", "class": "short", "capacity": "10"},
    )
    assert sorted(found.values()) == ["", "", "", "one", "one", "two"]


@pytest.mark.parametrize(
    ("uses", "best"),
    [
        ({"a": PoolUse(1, 0), "b": PoolUse(0, 0)}, "b"),
        ({"a": PoolUse(1, 1), "b": PoolUse(5, 0)}, "b"),
        ({"a": PoolUse(4, 1), "b": PoolUse(2, 1)}, "b"),
        ({"a": PoolUse(2, 0), "b": PoolUse(1, 0)}, "b"),
        ({"a": PoolUse(0, 0), "b": PoolUse(0, 0)}, "a"),
    ],
    ids=["idle", "not mine", "least used", "least used of others'", "as declared"],
)
def test_without_classes_the_pool_is_that_of_algorithm_2(
    long: User, monkeypatch: pytest.MonkeyPatch, uses: dict[str, PoolUse], best: str
) -> None:
    monkeypatch.setattr(pool_choice, "pool_use", lambda folder: uses[folder.name])
    assert set(pools(long, {"name": "a"}, {"name": "b"}).values()) == {best}


def test_the_use_of_a_pool_is_counted_by_the_folders_of_its_runs(long: User) -> None:
    occupy(long, "mine", "pbb1", "pbb2")
    folder = Path(long.tier["path"])
    (folder / "mine" / "a file").touch()
    assert pool_use(folder / "mine") == PoolUse(2, 2)
    assert pool_use(folder / "not made yet") == PoolUse(0, 0)
    assert set(pools(long, {"name": "mine"}, {"name": "idle"}).values()) == {"idle"}
    if os.getuid() == 0:
        os.chown(folder / "mine" / "pbb1", 12345, -1)
        assert pool_use(folder / "mine") == PoolUse(2, 1)


@pytest.mark.parametrize("mode", ["transient", "hybrid"])
def test_in_other_modes_there_are_no_pools(long: User, mode: str) -> None:
    long.defines = [f"pegasus.bb.mode={mode}"]
    assert set(pools(long, {"name": "any"}).values()) == {""}


@pytest.mark.parametrize(
    ("declared", "what"),
    [
        ("fast", "pools are a list"),
        ([{"name": "a"}], "a pool needs: name, path"),
        ([{"name": "a", "path": "a", "capacity": "1.5GB"}], "decimal"),
        ([{"name": "a", "path": "a", "beegfs_pool": "x"}], "no beegfs_pool of a pool"),
        ([{"name": "a", "path": "a"}, {"name": "b", "path": "a/b"}], "two pools"),
    ],
)
def test_a_mistake_names_its_place(long: User, declared: Any, what: str) -> None:
    long.tier["pools"] = declared
    error = long.is_refused(what)
    assert ".pools" in str(error.key)
    assert error.exit_code == 2
