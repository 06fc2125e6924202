"""After a removal the flash hears that bytes are free, where a configuration has it."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from pegasus_bb.runtime.stager_client.dataspace import Dataspace
from pegasus_bb.runtime.stager_client.protocol import Refused
from pegasus_bb.stager import programs
from pegasus_bb.stager.programs import Discards
from tests.support.run_programs import Run
from tests.support.slurm_stager import SlurmSite
from tests.support.stager import SiteDaemon
from tests.support.waiting import until

FSTRIM = """#!/bin/sh
printf "%s\\n" "$#" "$@" >> {called}
echo "{says}" >&2
exit {status}
"""


class Flash(SiteDaemon):
    """A site's service with the dataspace ``bb``, and ``home`` that is not discarded;
    fstrim is a program that notes its arguments."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder, home=folder / "home")
        self.called, self.log = folder / "called", folder / "log"
        for name in ("bin", "tier", "home"):
            (folder / name).mkdir()
        self.environ["PATH"] = f"{folder / 'bin'}:{os.environ['PATH']}"
        self.fstrim()

    def fstrim(self, says: str = "", status: int = 0) -> None:
        program = self.folder / "bin" / "fstrim"
        program.write_text(FSTRIM.format(called=self.called, says=says, status=status))
        program.chmod(0o755)

    def serve_with(self, **spaces: str) -> None:
        """``spaces``: folder of each that is discarded."""
        for name, folder in spaces.items():
            space = {"path": str(self.folder / folder), "discard": "1h"}
            self.config["dataspaces"][name] = space
        with self.log.open("wb") as log:
            self.launch(stderr=log)
        self.connect().close()

    def calls(self) -> list[str]:
        return self.called.read_text().split() if self.called.exists() else []


@pytest.fixture
def flash(tmp_path: Path) -> Iterator[Flash]:
    flash = Flash(tmp_path)
    yield flash
    flash.end()


@pytest.fixture
def run(tmp_path: Path, flash: Flash, ledger: Path) -> Run:
    """On a directory tier with that service, and with all of its results safe."""
    run = Run(tmp_path, service=str(flash.sockets))
    run.opens_its_gate()
    return run


def test_bb_delete_is_followed_by_discards_of_its_pool(flash: Flash, run: Run) -> None:
    """With one argument each: the folder that the configuration names."""
    run.change(pools="fast")
    (run.tier / "fast").mkdir()
    flash.serve_with(bb="tier", fast="tier/fast")
    assert run.delete() == 0
    until(lambda: len(flash.calls()) >= 4)
    paths = {str(flash.folder / name) for name in ("tier", "tier/fast")}
    assert set(flash.calls()) == {"1", *paths}


def test_a_user_names_no_path(flash: Flash) -> None:
    flash.serve_with(bb="tier")
    with flash.connect() as client:
        for space in ("/", "/etc", "bb://x", "bb/..", "-v", "other", "home"):
            assert client.ask("discard", space=space) == {"discards": False}
        for wrong in ({"space": ["bb"]}, {}, {"path": "/etc"}):
            with pytest.raises(Refused):
                client.ask("discard", **wrong)
    flash.kill(15)
    assert flash.calls() == []


def test_a_failure_is_a_line_in_the_log(flash: Flash, run: Run) -> None:
    """Nothing else: the reservation is given back, and the service goes on."""
    flash.fstrim("the discard operation is not supported", 1)
    flash.serve_with(bb="tier")
    assert run.delete() == 0
    assert not run.stands
    why = "free space was not discarded: the discard operation is not supported"
    until(lambda: why in flash.log.read_text())
    with flash.connect() as client:
        assert client.ask("ping")


def test_without_a_service_bb_delete_says_so_and_succeeds(
    flash: Flash, run: Run
) -> None:
    assert run.delete() == 0
    assert not run.stands
    assert "was not told of free space" in run.said


def test_a_buffer_that_slurm_deletes_is_followed_by_one(tmp_path: Path) -> None:
    """The service itself removes it; the pool says how often."""
    (tmp_path / "programs").mkdir()
    flash = Flash(tmp_path / "programs")
    site = SlurmSite(tmp_path)
    site.environ["PATH"] = flash.environ["PATH"]
    site.config["slurm"]["pools"]["flash"]["discard"] = "1h"
    site.serve()
    try:
        site.ask("create", "name=data", "capacity=1MiB", "uuid=u1")
        assert flash.calls() == []
        site.ask("delete", "name=data", "uuid=u1")
        until(lambda: len(flash.calls()) >= 2)
        assert flash.calls() == ["1", str(site.bb)]
    finally:
        site.end()


def test_removals_while_one_runs_have_one_more_together(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """It looks at all free space, which takes long; two at once would take longer."""
    running: list[int] = []
    most: list[int] = []

    async def story() -> None:
        goes = asyncio.Event()
        begun = asyncio.Event()

        async def trim(root: str) -> str:
            running.append(1)
            most.append(len(running))
            begun.set()
            await goes.wait()
            running.pop()
            return ""

        monkeypatch.setattr(programs, "_trim", trim)
        discards = Discards({"bb": Dataspace("bb", "/bb", discard=0.001)})
        assert discards.freed("bb")
        await begun.wait()
        assert discards.freed("bb") and discards.freed("bb")
        goes.set()
        await asyncio.gather(*discards._running.values())
        discards.close()

    asyncio.run(story())
    assert most == [1, 1]
