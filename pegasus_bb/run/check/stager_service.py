"""The staging service of a tier: it answers, and it reaches what a run moves."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator, Mapping
from pathlib import Path

from pegasus_bb.core.errors import PegasusBBError, UsageError
from pegasus_bb.model.catalogs import Site
from pegasus_bb.model.finding import Finding, ok, wrong
from pegasus_bb.model.tiers import Tier
from pegasus_bb.runtime.stager_client.client import Client
from pegasus_bb.runtime.stager_client.dataspace import url_of
from pegasus_bb.stager.site_config import Config, site_config

_MODES = {"user": 0o666, "control": 0o600}
_CONFIG = Path("/etc/pegasus-bb/stager.json")


def of_service(tier: Tier, site: Site) -> Iterator[Finding]:
    """Nothing where ``tier`` names none."""
    folder = tier.settings.get("service", "")
    if not folder:
        return
    is_site = folder == site_here().sockets
    sockets = list(of_sockets(Path(folder), is_site=is_site))
    yield from sockets
    try:
        with Client(folder) as client:
            said = client.ask("ping")
    except PegasusBBError as error:
        if not sockets:  # else that is why
            mend = "start it on this host (docs/stager.md), or take `service` out of "
            mend += "the tier: then jobs of the site transfer"
            yield wrong("service", str(error), mend)
        return
    roots: Mapping[str, str] = said.get("roots", {})
    yield of_answer(f"{folder}: the staging service", said.get("trouble", ""))
    for what, path in _places(tier, site, roots):
        if not url_of(f"{os.path.realpath(path)}/", roots):
            yield _uncovered(what, path, roots)


def site_here() -> Config:
    """The service of this host's site, whether or not it has one: as its configuration
    says, or with its folders where docs/slurm-lua.md has them."""
    try:
        return site_config(str(_CONFIG))
    except UsageError:  # not there, or not for us to read
        return _USUAL


def of_answer(who: str, trouble: str) -> Finding:
    """``who`` answers, and says why it can write nothing, if it cannot."""
    if trouble:
        mend = "an administrator makes room there; what waits goes on by itself"
        return wrong("service", f"{who} answers, but {trouble}", mend)
    return ok("service", f"{who} answers")


def of_sockets(folder: Path, *, is_site: bool) -> Iterator[Finding]:
    """What is wrong with them, where the folder is seen: a service on another host has
    none here. A user's own service lets no other user in; a site's shall."""
    try:
        mode = folder.stat().st_mode
    except OSError:
        return
    if is_site and not mode & 0o001:
        what = f"{folder} is closed to users: nothing can be asked there"
        yield wrong("service", what, f"an administrator says: chmod 755 {folder}")
        return
    for name, wanted in _MODES.items():
        path = folder / name
        try:
            found = path.stat()
        except OSError as error:
            what = f"{path}: {error.strerror}: nothing can be asked there"
            yield wrong("service", what, "start the service, or start it again")
            continue
        has = stat.S_IMODE(found.st_mode)
        is_own = not is_site and found.st_uid == os.getuid() and has == 0o600
        if has != wanted and not is_own:
            what = f"{path} has mode {has:04o}, not {wanted:04o}"
            yield wrong("service", what, f"chmod {wanted:04o} {path}")


_USUAL = Config("/var/lib/pegasus-bb/stager", "/run/pegasus-bb", {}, is_site=True)


def _places(
    tier: Tier, site: Site, roots: Mapping[str, str]
) -> Iterator[tuple[str, str]]:
    if "path" in tier.settings:
        yield f"the folder of tier {tier.name}", tier.settings["path"]
    else:  # a pool is a dataspace of its service
        yield f"pool {tier.pool} of tier {tier.name}", roots.get(tier.pool, "/")
    if site.scratch is not None:
        yield f"the scratch of site {site.name}", site.scratch.path


def _uncovered(what: str, path: str, roots: Mapping[str, str]) -> Finding:
    known = ", ".join(f"{name} ({at})" for name, at in roots.items())
    return wrong(
        "service",
        f"{what}, {path}, lies in no dataspace of the staging service: {known}",
        "an administrator adds a dataspace to its configuration: docs/stager.md",
    )
