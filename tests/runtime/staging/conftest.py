"""Both copiers: the compiled helper, and Python alone."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from pegasus_bb.runtime.staging.digests import SHA256
from pegasus_bb.runtime.staging.failures import CopyFailed
from pegasus_bb.runtime.staging.helper import load
from pegasus_bb.runtime.staging.hints import NO_HINT
from pegasus_bb.runtime.staging.items import Folder, Item, item_of
from pegasus_bb.runtime.staging.stage_journal import StageJournal
from pegasus_bb.runtime.staging.stage_tree import Stage


@pytest.fixture(params=["helper", "python"])
def copier(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Every story is told of both."""
    if request.param == "python":
        monkeypatch.setenv("PEGASUS_BB_HELPER", "none")
    elif load(digest=True) is None:
        if os.environ.get("CI") == "true" and shutil.which("cc"):
            pytest.fail("there is a compiler, but the helper was not built")
        pytest.skip("the compiled helper was not built: no compiler")
    return str(request.param)


def items_of(source: Path, dest: Path, hint: int = NO_HINT) -> list[Item]:
    """Every file of ``source``, on its way to ``dest``."""
    here, there = (Folder.open(str(folder)) for folder in (source, dest))
    return [
        item_of(
            here,
            path.name,
            there,
            as_name=path.name,
            status=path.stat(),
            mark=None,
            hint=hint,
        )
        for path in sorted(source.iterdir())
    ]


class TwoTrees:
    """Stages `from` to `to` below a folder."""

    def __init__(self, root: Path) -> None:
        self.root, self.source, self.dest = root, root / "from", root / "to"
        self.failures: list[str] = []

    def write(self, name: str, data: bytes | str) -> Path:
        path = self.source / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data if isinstance(data, bytes) else data.encode())
        return path

    def stage(
        self,
        verify: str = "digest",
        tell: Callable[[int], None] = lambda size: None,
    ) -> Stage:
        """One try, to its end."""
        self.failures = []
        journal = StageJournal(str(self.root / "journal"), "from", "to")

        def fail(failure: CopyFailed) -> None:
            self.failures.append(str(failure))

        try:
            stage = Stage(
                str(self.source),
                str(self.dest),
                journal,
                digest=SHA256 if verify == "digest" else None,
                fail=fail,
            )
            stage.run(tell)
        finally:
            journal.close()
        return stage

    def parts(self) -> list[str]:
        return [str(path) for path in self.root.rglob("*.part")]


@pytest.fixture
def trees(tmp_path: Path) -> Iterator[TwoTrees]:
    (tmp_path / "from").mkdir()
    yield TwoTrees(tmp_path)
