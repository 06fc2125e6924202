"""A placement with some of its files elsewhere: on the PFS, with a new reason."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from pegasus_bb.errors import CatalogError
from pegasus_bb.model.catalogs import Catalogs
from pegasus_bb.model.placement import PFS, Placed, Placement
from pegasus_bb.placement.lint import link_target
from pegasus_bb.placement.policy import LINK

_LINKS = "pegasus.transfer.links"


def moved(placement: Placement, files: Mapping[str, Placed]) -> Placement:
    """With what is known now of ``files``."""
    gone = [n for n, f in files.items() if f.tier == PFS and placement.on_tier(n)]
    less = sum(placement.files[lfn].size or 0 for lfn in gone)
    return replace(
        placement,
        files={**placement.files, **files},
        need=placement.need - less,
        unknown=tuple(n for n in placement.unknown if n not in files),
    )


def read_in_place(catalogs: Catalogs, placement: Placement, lfn: str) -> str:
    """Where an input that leaves the tier is read: from its replica on the site, behind
    a link, or without one from a copy in the site's scratch."""
    linked = catalogs.properties.get(_LINKS, "true").strip().lower() == "true"
    return LINK if linked and _is_on_site(catalogs, placement, lfn) else PFS


def _is_on_site(catalogs: Catalogs, placement: Placement, lfn: str) -> bool:
    try:
        return link_target(catalogs, placement.tier.site, lfn) is not None
    except CatalogError:  # of a URL that is none: its stage-in has more to say
        return False
