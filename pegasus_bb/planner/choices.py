"""Which site, which tier, which output site: choices that a planning has to make."""

from __future__ import annotations

from pegasus_bb.errors import UsageError
from pegasus_bb.model.catalogs import Catalogs, Site
from pegasus_bb.model.properties import PREFIX, Settings, property_of
from pegasus_bb.model.tiers import KEY, Tier
from pegasus_bb.planner.options import PlanOptions
from pegasus_bb.reservation.injected_faults import parse_faults


def execution_site(options: PlanOptions, catalogs: Catalogs) -> Site:
    """The one site where the tasks run. Raises UsageError and CatalogError."""
    known = catalogs.sites.sites
    named = [catalogs.sites.site(name) for name in options.sites]
    sites = named or [known[name] for name in known if name != "local"]
    if len(sites) > 1:
        sites = [site for site in sites if site.name != "local"]
    if len(sites) != 1:
        raise UsageError(
            "with a burst buffer, or with the built-in planner, the tasks of a "
            "workflow run on one site; say --sites with one of " + ", ".join(known)
        )
    if sites[0].scratch is None:
        raise catalogs.sites.document.error(
            f"site {sites[0].name} has no sharedScratch directory to run in",
            ["sites", sites[0].index, "directories"],
            would_do="add a directory of type sharedScratch",
        )
    return sites[0]


def check_fallback_is_of_use(options: PlanOptions, settings: Settings) -> None:
    """Raises UsageError where --bb-fallback pfs was said for a run without a gate. A
    property may stand in a file for runs of all modes, and is left aside there."""
    said = options.said.get(f"{PREFIX}fallback") == "pfs"
    if said and not settings.falls_back and settings.mode != "auto":
        raise UsageError(
            "--bb-fallback pfs is for --bb-mode persistent, where the whole run waits "
            f"for one reservation; this is mode {settings.mode}. Leave it out, or say "
            "--bb-mode persistent"
        )


def check_job_tier_is_of_use(options: PlanOptions, settings: Settings) -> None:
    """Raises UsageError if --bb-job-tier was said for a run that has no second tier."""
    if property_of("job_tier") in options.said and settings.mode not in (
        "hybrid",
        "auto",
    ):
        raise UsageError(
            "--bb-job-tier is for --bb-mode hybrid, where job reservations may be on "
            f"another tier than the files that jobs share; this is mode {settings.mode}"
            ", whose tier is --bb-tier's. Leave it out, or say --bb-mode hybrid"
        )


def check_fallback(settings: Settings, site: Site) -> None:
    """Raises UsageError where --bb-fallback pfs could not do what it says."""
    path = site.scratch.path.rstrip("/") if site.scratch else ""
    wrong = not path.startswith("/") or any(c < " " or c in "\"'\\" for c in path)
    if settings.falls_back and wrong:
        raise UsageError(
            f"--bb-fallback pfs needs the site's own scratch; {path or '/'!r}, the "
            f"sharedScratch of site {site.name}, cannot stand for a reservation: it "
            "must be a full path without quotes, backslashes and control characters"
        )


def choose_tier(catalogs: Catalogs, settings: Settings, site: str) -> Tier:
    """The tier that the user named, or the site's first. Raises UsageError."""
    tiers = catalogs.tiers.get(site, [])
    if not tiers:
        raise catalogs.sites.document.error(
            f"site {site} declares no storage tier, so there is no burst buffer to use",
            [KEY] if KEY in catalogs.sites.document.data else [],
            would_do=f"add under {KEY}: {site}: a list with - name: bb, backend: ...",
        )
    if not settings.tier:
        return tiers[0]
    for tier in tiers:
        if tier.name == settings.tier:
            return tier
    raise catalogs.properties.error(
        "pegasus.bb.tier",
        f"site {site} has no such tier",
        "one of " + ", ".join(tier.name for tier in tiers),
    )


def check_injected_faults(catalogs: Catalogs, tier: Tier) -> None:
    """Read the tier's key `fail` before anything runs. Raises CatalogError."""
    try:
        parse_faults(tier.settings.get("fail", ""))
    except UsageError as error:
        names = [known.name for known in catalogs.tiers[tier.site]]
        at = [KEY, tier.site, names.index(tier.name), "fail"]
        found = tier.settings["fail"]
        raise catalogs.sites.document.error(str(error), at, found) from error


def output_site(options: PlanOptions, catalogs: Catalogs) -> str:
    """Where results are staged to; empty where they stay. Raises CatalogError."""
    if not options.output_sites:
        return "local" if options.output_dir else ""
    site = catalogs.sites.site(options.output_sites[0])
    if site.storage is None and options.output_dir is None:
        raise catalogs.sites.document.error(
            f"site {site.name} has no storage directory for results",
            ["sites", site.index, "directories"],
            would_do="add a directory of type localStorage, or say --output-dir",
        )
    return site.name
