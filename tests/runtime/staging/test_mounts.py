"""One folder at two paths: a mount shows again what lies elsewhere."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from pegasus_bb.core.errors import NOT_COPIED, USAGE

IN_A_NAMESPACE = ["unshare", "--mount", "--propagation", "private"]
MAY_MOUNT = os.geteuid() == 0 and shutil.which("unshare") is not None

pytestmark = pytest.mark.skipif(not MAY_MOUNT, reason="only root can mount")


@pytest.fixture
def work(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("PEGASUS_BB_LEDGER", str(tmp_path / "state" / "ledger.jsonl"))
    (tmp_path / "data" / "in").mkdir(parents=True)
    (tmp_path / "data" / "file").write_text("outer")
    (tmp_path / "data" / "in" / "file").write_text("inner")
    (tmp_path / "view").mkdir()
    return tmp_path


def staged(work: Path, shown: str, at: str, *words: str) -> tuple[int, str]:
    """`stage` where folder ``shown`` can be seen ``at`` another place as well."""
    command = f'mount --bind {shown} {at} && exec "$@"'
    stage = [sys.executable, "-m", "pegasus_bb", "stage"]
    done = subprocess.run(
        [*IN_A_NAMESPACE, "sh", "-c", command, "sh", *stage, *words],
        cwd=work,
        capture_output=True,
        text=True,
        timeout=120,
    )
    if "unshare" in done.stderr or "mount:" in done.stderr:
        pytest.skip(f"no mount here: {done.stderr.strip()}")
    return done.returncode, done.stderr


def test_a_copy_onto_itself_is_refused(work: Path) -> None:
    before = (work / "data" / "file").stat().st_ino
    status, said = staged(work, "data", "view", "data", "view")
    assert status == USAGE
    assert "is data itself" in said.replace(f"{work}/", "")
    assert (work / "data" / "file").stat().st_ino == before


def test_a_destination_inside_the_source_is_not_copied_into_itself(work: Path) -> None:
    status, said = staged(work, "data/in", "view", "data", "view")
    assert status == NOT_COPIED
    assert f"{work}/data/in: is DEST itself, through another mount" in said
    assert sorted(path.name for path in (work / "data" / "in").iterdir()) == ["file"]


def test_a_source_inside_the_destination_is_not_written_to(work: Path) -> None:
    (work / "copy" / "in").mkdir(parents=True)
    status, said = staged(work, "data", "copy/in", "data", "copy")
    assert status == NOT_COPIED
    assert f"{work}/copy/in: is SOURCE itself, through another mount" in said
    assert (work / "data" / "file").read_text() == "outer"
