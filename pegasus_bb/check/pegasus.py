"""The planner, and what the catalogs say of Kickstart and style."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator

from pegasus_bb.check.finding import Finding, note, ok, wrong
from pegasus_bb.errors import PegasusBBError
from pegasus_bb.model.sites import Site
from pegasus_bb.planner.choices import choose_tier
from pegasus_bb.planner.deciding import Given
from pegasus_bb.planner.pegasus import Home, chosen_home
from pegasus_bb.planner.pegasus.checks import check_kickstart, check_style
from pegasus_bb.process import ask
from pegasus_bb.rewrite import Inputs

_TRIED = (5, 1)
_VERSION = re.compile(r"(\d+)\.(\d+)\S*")


def of_pegasus(given: Given, site: Site) -> Iterator[Finding]:
    """Which planner it would be, its version, and what it would be told."""
    try:
        home = chosen_home(given.settings.planner, os.environ)
    except PegasusBBError as error:
        yield wrong("pegasus", str(error))
        return
    if home is None:
        yield ok("pegasus", "the built-in planner plans")
        return
    yield _of_version(home)
    yield from _of_settings(given, site)


def _of_version(home: Home) -> Finding:
    said = ask([home.tool("pegasus-version")], timeout=60)
    found = _VERSION.match(said.out.strip())
    if found is None:
        words = (said.err or said.out).strip()[:120]
        return wrong("pegasus", f"{home.bin}/pegasus-version does not answer: {words}")
    version = (int(found[1]), int(found[2]))
    if version == _TRIED:
        return ok("pegasus", f"{found[0]} in {home.bin} plans")
    return note(
        "pegasus",
        f"{found[0]} in {home.bin} plans; this was tried with 5.1",
        "Pegasus 5.1, or --bb-planner builtin",
    )


def _of_settings(given: Given, site: Site) -> Iterator[Finding]:
    catalogs = given.catalogs
    try:
        tier = choose_tier(catalogs, given.settings, site.name)
        check_style(site, catalogs, tier.backend)
        check_kickstart(Inputs.of(given.workflow, catalogs), site.name)
    except PegasusBBError as error:
        yield wrong("catalogs", str(error))
    else:
        yield ok("catalogs", "style and Kickstart of the site fit a buffer")
