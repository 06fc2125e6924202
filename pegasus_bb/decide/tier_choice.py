"""Chooses the tiers of a plan, and refuses those that cannot serve it in its mode."""

from __future__ import annotations

import re

from pegasus_bb.model.catalogs import Catalogs
from pegasus_bb.model.document import Entry, suggestion
from pegasus_bb.model.drain_policies import NOW, DrainRule
from pegasus_bb.model.modes import PERSISTENT, TRANSIENT, RunMode
from pegasus_bb.model.settings import Settings, property_of
from pegasus_bb.model.tiers import KEY, Tier

# A blank ends a value of a #BB line, and % starts a replacement.
_POOL = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]*")


def rule_of(settings: Settings, tier: Tier) -> DrainRule:
    """How results leave: the user's rule, else the tier's."""
    return settings.drain or (tier.drain.rule if tier.drain else DrainRule(NOW))


def choose_tier(catalogs: Catalogs, settings: Settings, site: str) -> Tier:
    """The tier that the user named, or the site's first. Raises UsageError."""
    tiers = catalogs.tiers.get(site, [])
    if not tiers:
        raise catalogs.storage_document(KEY).error(
            f"site {site} declares no storage tier, so there is no burst buffer to use",
            [KEY] if KEY in catalogs.storage else [],
            would_do=_tier_to_use(catalogs, site),
        )
    if not settings.tier:
        return tiers[0]
    for tier in tiers:
        if tier.name == settings.tier:
            return tier
    raise catalogs.properties.error(
        "pegasus.bb.tier",
        f"site {site} has no such tier",
        suggestion(settings.tier, [tier.name for tier in tiers]),
    )


def _tier_to_use(catalogs: Catalogs, site: str) -> str:
    """The fix if ``site`` declares no tier."""
    if not catalogs.tiers:
        return (
            f"add under {KEY}: {site}: a list with - name: bb, backend: ...; "
            f"pegasus-bb init {site} writes it into a file of its own"
        )
    other = next(iter(catalogs.tiers))
    return (
        f"site {other} declares one: --sites {other}; or declare one for {site} under "
        f"{KEY}"
    )


def job_tier(catalogs: Catalogs, settings: Settings, tier: Tier) -> Tier:
    """Mode hybrid: the tier of job reservations: the one that the user named, else the
    site's first node-local tier, else ``tier``. Raises CatalogError."""
    tiers = catalogs.tiers.get(tier.site, [tier])
    if settings.job_tier:
        named = next((each for each in tiers if each.name == settings.job_tier), None)
        if named is None:
            raise catalogs.properties.error(
                property_of("job_tier"),
                f"site {tier.site} has no such tier",
                "one of " + ", ".join(each.name for each in tiers),
            )
    else:
        named = next((each for each in tiers if not each.is_reserved), tier)
    lint_job_tier(catalogs.tier_entry(named), named)
    return named


def usual_mode(tier: Tier) -> RunMode:
    """The mode that plans with ``tier`` where the user names none."""
    return TRANSIENT if tier.is_of_one_node else PERSISTENT


def lint_tier(catalogs: Catalogs, tier: Tier, mode: RunMode) -> None:
    """Raises CatalogError if the tier cannot serve a workflow in ``mode``."""
    entry = catalogs.tier_entry(tier)
    if tier.site == "local":
        raise entry.error(
            "the submit host cannot be the site with the buffer: bb_setup and "
            "bb_delete run there before and after it exists",
            "local",
            "declare the machine that runs the tasks as a site of its own",
        )
    if not tier.is_reserved and mode.is_shared:
        raise entry.below("backend").error(
            "the disk of a node holds nothing for the jobs on others, nor longer than "
            "its job runs; modes persistent and hybrid want one place for files that "
            "several jobs share",
            would_do="--bb-mode transient, or --bb-tier with a tier that all nodes see",
        )
    if tier.access == "private" and not mode.is_only_for_jobs:
        raise entry.below("access").error(
            "in a private reservation each node sees only its own files, and the jobs "
            "of a workflow would not find each other's",
            would_do="access: striped, or --bb-mode transient",
        )
    lint_job_tier(entry, tier)


def lint_job_tier(entry: Entry, tier: Tier) -> None:
    """Raises CatalogError if the tier cannot have job reservations."""
    if tier.access == "private" and tier.kind.is_one_folder:
        raise entry.below("access").error(
            "a directory tier is one folder, which all nodes see",
            would_do="access: striped",
        )
    if tier.pool and _POOL.fullmatch(tier.pool) is None:
        raise entry.below("pool").error(
            "the scheduler would misread this name of a pool",
            repr(tier.pool),
            "letters, digits, _, . and -",
        )
