"""Mode hybrid: on which tier of the site jobs have their rooms."""

from __future__ import annotations

from pegasus_bb.model.catalogs import Catalogs
from pegasus_bb.model.settings import PREFIX, Settings
from pegasus_bb.model.tiers import Tier
from pegasus_bb.placement.lint import lint_room_tier

_PROPERTY = f"{PREFIX}rooms"


def room_tier(catalogs: Catalogs, settings: Settings, tier: Tier) -> Tier:
    """The one that the user named, else the first disk of nodes that the site has, else
    ``tier``, where all shared files are. Raises CatalogError."""
    tiers = catalogs.tiers.get(tier.site, [tier])
    if settings.rooms:
        named = next((each for each in tiers if each.name == settings.rooms), None)
        if named is None:
            raise catalogs.properties.error(
                _PROPERTY,
                f"site {tier.site} has no such tier",
                "one of " + ", ".join(each.name for each in tiers),
            )
    else:
        named = next((each for each in tiers if not each.is_reserved), tier)
    lint_room_tier(catalogs, named)
    return named
