"""--bb-darshan: which library it comes to, and which it refuses."""

from __future__ import annotations

from pathlib import Path

import pytest

from pegasus_bb.core.errors import CatalogError
from pegasus_bb.model.settings import Properties, Setting
from pegasus_bb.planner import node_programs
from pegasus_bb.planner.node_programs import check_darshan


def tried(said: str) -> str:
    key = "pegasus.bb.darshan"
    return check_darshan(Properties({key: Setting(said, "command line")}), said)


@pytest.fixture
def broken(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """A file of that name that no loader takes, where auto looks first."""
    path = tmp_path / "libdarshan.so"
    path.write_text("no library")
    monkeypatch.setenv("LD_LIBRARY_PATH", f"relative::{tmp_path}")
    monkeypatch.setattr(node_programs, "_FOLDERS", ())
    monkeypatch.setenv("PATH", "/usr/bin:/bin")
    return str(path)


def test_auto_finds_none_where_none_works(broken: str) -> None:
    assert list(node_programs._candidates()) == [broken]
    assert tried("auto") == ""


def test_auto_takes_the_first_that_works(
    broken: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(node_programs, "darshan_fault", lambda path: "")
    assert tried("auto") == broken


def test_a_library_that_does_not_work_is_refused(broken: str) -> None:
    with pytest.raises(CatalogError, match=r"does not work here: .*libdarshan") as info:
        tried(broken)
    assert info.value.key == "pegasus.bb.darshan"


def test_a_path_that_only_compute_nodes_have_is_taken_on_trust() -> None:
    assert tried("/none/such/libdarshan.so") == "/none/such/libdarshan.so"


@pytest.mark.parametrize("said", ["on", "libdarshan.so", "/a b/libdarshan.so", "/a:/b"])
def test_anything_else_is_refused(said: str) -> None:
    with pytest.raises(CatalogError, match="not a full path"):
        tried(said)
