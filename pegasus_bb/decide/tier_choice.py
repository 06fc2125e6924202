"""The tiers of a run, and how results leave them: the user's choice, else defaults."""

from __future__ import annotations

from pegasus_bb.decide.lint.tiers import lint_job_tier
from pegasus_bb.model.catalogs import Catalogs
from pegasus_bb.model.document import suggestion
from pegasus_bb.model.drain_settings import NOW, DrainRule
from pegasus_bb.model.properties import Settings, property_of
from pegasus_bb.model.tiers import KEY, Tier


def rule_of(settings: Settings, tier: Tier) -> DrainRule:
    """How results leave: the user's rule, else the tier's."""
    return settings.drain or (tier.drain.rule if tier.drain else DrainRule(NOW))


def choose_tier(catalogs: Catalogs, settings: Settings, site: str) -> Tier:
    """The tier that the user named, or the site's first. Raises UsageError."""
    tiers = catalogs.tiers.get(site, [])
    if not tiers:
        raise catalogs.sites.document.error(
            f"site {site} declares no storage tier, so there is no burst buffer to use",
            [KEY] if KEY in catalogs.sites.document.data else [],
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
        return f"add under {KEY}: {site}: a list with - name: bb, backend: ..."
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
