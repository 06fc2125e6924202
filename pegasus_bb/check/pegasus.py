"""The real Pegasus: its version, what it lacks here, how Kickstart is to run."""

from __future__ import annotations

import re
from collections.abc import Iterator

from pegasus_bb.check.finding import Finding, note, ok, wrong
from pegasus_bb.errors import PegasusBBError
from pegasus_bb.model.sites import Site
from pegasus_bb.planner.deciding import Given
from pegasus_bb.planner.pegasus import Home
from pegasus_bb.planner.pegasus.checks import check_kickstart, profiles_of
from pegasus_bb.process import Finished, ask
from pegasus_bb.rewrite import Inputs

_TRIED = (5, 1)
_VERSION = re.compile(r"(\d+)\.(\d+)\S*")
_OPTIONS = "gridstart.arguments"
# Of Kickstart 5.1; in either case of letters.
_DOUBTFUL = {
    "-t": "ptrace stops some tasks with threads for ever; bytes are counted without it",
    "-z": "its records are then no YAML, and Pegasus's own tools read none of them",
}


def of_pegasus(home: Home, given: Given, site: Site) -> Iterator[Finding]:
    """What can be told of it before it plans."""
    yield _of_version(home)
    yield from _of_preflight(home)
    inputs = Inputs.of(given.workflow, given.catalogs)
    try:
        check_kickstart(inputs, site.name)
    except PegasusBBError as error:
        yield wrong("kickstart", str(error))
        return
    doubtful = list(_of_options(inputs, site.name))
    yield from doubtful or [
        ok("kickstart", "a record of every task, as Pegasus has it")
    ]


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


def _of_options(inputs: Inputs, site: str) -> Iterator[Finding]:
    given = {said.value for said in profiles_of(inputs, site, _OPTIONS)}
    given.add(inputs.properties.get(f"pegasus.{_OPTIONS}", ""))
    words = {word for value in given for word in value.split()}
    for option, why in _DOUBTFUL.items():
        for word in sorted(words & {option, option.upper()}):
            yield note("kickstart", f"{_OPTIONS} has {word}: {why}", "leave it out")


def _words(said: Finished) -> str:
    return " ".join((said.err or said.out).split())[:120]
