"""The real Pegasus: its version, and what it lacks on this machine."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator

from pegasus_bb.check.finding import Finding, note, ok, wrong
from pegasus_bb.check.kickstart import of_kickstart
from pegasus_bb.engine.dagman.queue import SUBMIT
from pegasus_bb.model.catalogs import Site
from pegasus_bb.planner.deciding import Given
from pegasus_bb.planner.pegasus import Home
from pegasus_bb.process import Finished, ask

_TRIED = (5, 1)
_VERSION = re.compile(r"(\d+)\.(\d+)\S*")


def of_pegasus(home: Home, given: Given, site: Site) -> Iterator[Finding]:
    """What can be told of it before it plans."""
    yield _of_version(home)
    yield from _of_preflight(home)
    if shutil.which(SUBMIT) is None:
        yield wrong(
            "pegasus",
            f"pegasus-plan calls {SUBMIT}, which is not on PATH",
            "a submit host with HTCondor, or --bb-planner builtin",
        )
    yield from of_kickstart(given, site)


def _of_version(home: Home) -> Finding:
    said = ask([home.tool("pegasus-version")], timeout=60)
    found = _VERSION.match(said.out.strip())
    if found is None:
        words = _words(said)
        return wrong("pegasus", f"{home.bin}/pegasus-version does not answer: {words}")
    version = (int(found[1]), int(found[2]))
    if version == _TRIED:
        return ok("pegasus", f"{found[0]} in {home.bin} plans")
    return note(
        "pegasus",
        f"{found[0]} in {home.bin} plans; this was tried with 5.1",
        "Pegasus 5.1, or --bb-planner builtin",
    )


def _of_preflight(home: Home) -> Iterator[Finding]:
    """Pegasus looks for its Python packages itself; a home may be without the tool."""
    said = ask([home.tool("pegasus-preflight-check")], timeout=60)
    if said.status not in (0, 127):
        yield wrong("pegasus", f"pegasus-preflight-check: {_words(said)}")


def _words(said: Finished) -> str:
    return " ".join((said.err or said.out).split())[:120]
