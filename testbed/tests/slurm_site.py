"""Two users and an administrator on the real Slurm of a testbed."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from pegasus_bb_testbed import site
from pegasus_bb_testbed.datawarp.accounts import open_accounts
from pegasus_bb_testbed.datawarp.folders import folder
from pegasus_bb_testbed.datawarp.place import Place
from pegasus_bb_testbed.home import DEFAULT, FLAVOURS, Flavour, Home, flavour
from pegasus_bb_testbed.namespace import inside

from pegasus_bb.core.process import Finished, ask
from pegasus_bb.core.removal import remove
from pegasus_bb.core.units import MIB
from pegasus_bb.model.reservation import Request
from pegasus_bb.runtime.backends import slurm
from pegasus_bb.runtime.backends.datawarp import DataWarp
from pegasus_bb.runtime.backends.scontrol import (
    PersistentBuffer,
    SpaceJob,
    parse_burst,
    parse_jobs,
)
from tests.support.waiting import until

POOL = 1024 * MIB


def on_slurm(*versions: str) -> Any:
    """A mark: the test runs on the testbeds with these versions of Slurm."""
    return on_sites({version: FLAVOURS[version] for version in versions})


def on_sites(named: Mapping[str, Flavour]) -> Any:
    """A mark: the test runs on each of these testbeds; conftest.py knows the names."""
    words = {"indirect": True, "scope": "module"}
    return pytest.mark.parametrize("home", named.values(), ids=[*named], **words)


# The stories of the default site take as long as the rest of all tests: half of them
# are on another one of its kind.
ON_SECOND = on_sites({"second": flavour(DEFAULT.slurm, number=2)})


class SlurmSite:
    """What a person at its keyboard could do."""

    def __init__(self, home: Home) -> None:
        self.home = home
        site.forget_jobs(home, POOL)
        self.place: Place = site.datawarp(home)
        self.work = home.work / "site-tests"
        remove(str(self.work))  # what an earlier test has written proves nothing
        self.work.mkdir()
        self.work.chmod(0o1777)

    def run(self, user: str, *argv: str) -> Finished:
        return ask(inside(self.home, argv, user, str(self.work)))

    def sbatch(self, user: str, *argv: str) -> str:
        answer = self.run(user, "sbatch", "--parsable", "--output=/dev/null", *argv)
        assert answer.status == 0, answer.err
        return answer.out.strip()

    def script(self, name: str, *lines: str) -> str:
        path = self.work / name
        path.write_text("\n".join(["#!/bin/bash", *lines, ""]))
        return str(path)

    def directive(self, user: str, line: str) -> str:
        """A job of no node that carries one #BB line."""
        return self.sbatch(user, "-N0", f"--bb={line}", "--wrap=true")

    def buffers(self) -> dict[str, PersistentBuffer]:
        answer = self.run("root", "scontrol", "show", "burst")
        return {b.name: b for b in parse_burst(answer.out)[0].buffers}

    def job(self, number: str) -> SpaceJob:
        answer = self.run("root", "scontrol", "show", "job", number)
        return parse_jobs(answer.out)[0]

    def hold(self, user: str, name: str, size: int) -> None:
        words = f"name={name} capacity={size} access_mode=striped type=scratch"
        number = self.directive(user, f"#BB create_persistent {words}")
        self.until(lambda: name in self.buffers())
        self.ended(number)  # else a restart of slurmctld would do it once more

    def give_back(self, user: str, name: str) -> None:
        self.directive(user, f"#BB destroy_persistent name={name}")
        self.until(lambda: name not in self.buffers())

    def until(self, true: Callable[[], Any], seconds: float = 60.0) -> None:
        until(true, seconds)

    def job_buffers(self) -> list[str]:
        """The rows of jobs that hold space."""
        said = self.run("root", "scontrol", "show", "burst").out
        return [line for line in said.splitlines() if "JobID=" in line]

    def folder_of(self, name: str) -> Path | None:
        """Where the files of a persistent buffer are; None before it is made."""
        with open_accounts(self.place) as accounts:
            session = accounts.find(name)
            found = session and accounts.instance(session)
            return folder(self.place, found) if found else None

    def inject(self, lines: str) -> None:
        """DataWarp fails, or takes its time, as these lines say; none ends it."""
        self.place.injected_faults.write_text(lines)

    @contextmanager
    def injected(self, lines: str) -> Iterator[None]:
        self.inject(lines)
        try:
            yield
        finally:
            self.inject("")

    def ended(self, number: str) -> SpaceJob:
        """The job's record once it has completed."""
        self.until(lambda: self.job(number).native == "COMPLETED")
        return self.job(number)


class ContractBench(SlurmSite):
    """The contract's bench: wfuser's backend asks Slurm inside, as other users do."""

    def __init__(self, home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
        super().__init__(home)
        monkeypatch.setattr(slurm, "ask", self._ask)
        monkeypatch.setattr(tempfile, "tempdir", str(self.work))
        self.backend = DataWarp({"timeout": "60s", "poll": "1s", "mount": "any"})
        self.backend.owner, self.backend.uid = "wfuser", site.USERS["wfuser"]

    def _ask(self, argv: list[str], timeout: float) -> Finished:
        for made in self.work.glob("pegasus-bb-*"):  # sbatch reads directives there
            made.chmod(0o755)
        return self.run("wfuser", *argv)

    def occupy(self, name: str) -> str:
        self.hold("other", name, 10 * MIB)
        return "other"

    def fill(self) -> None:
        self.hold("other", "filler", 1000 * MIB)

    def free(self) -> None:
        self.give_back("other", "filler")

    def go_down(self) -> None:
        site.stop_controller(self.home)

    def environ(self, request: Request) -> Mapping[str, str]:
        """Of a job that runs until the test's end, with the path as seen from here."""
        variable = f"DW_PERSISTENT_STRIPED_{request.name}"
        seen = self.work / "seen"
        seen.unlink(missing_ok=True)
        use = f"#DW persistentdw name={request.name}"
        look = f"[ -d ${variable} ] && touch {seen}"
        self.sbatch("wfuser", self.script("hold.sh", use, look, "sleep 60"))
        self.until(seen.exists)
        return {variable: str(self.folder_of(request.name))}
