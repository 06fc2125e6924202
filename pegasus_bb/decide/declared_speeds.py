"""The speeds of a site's storage, as its user declares them."""

from __future__ import annotations

from pegasus_bb.core.errors import CatalogError
from pegasus_bb.decide.decision import PlanningInput
from pegasus_bb.model.catalog_files import environment
from pegasus_bb.model.catalogs import SPEEDS
from pegasus_bb.model.document import Key, load
from pegasus_bb.model.speeds import Speeds, read_speeds


def declared_speeds(given: PlanningInput) -> Speeds | None:
    """None where none are declared. Raises CatalogError."""
    file = given.settings.speeds
    site = given.site.name
    if file is None:
        document = given.catalogs.storage_document(SPEEDS)
        return read_speeds(document, (SPEEDS,), site)
    document = load(file, environment(given.catalogs.properties))
    root: tuple[Key, ...] = (SPEEDS,) if SPEEDS in document.data else ()
    speeds = read_speeds(document, root, site)
    if speeds is None:
        raise document.error(
            f"there are no speeds of site {site}",
            root,
            would_do=f"{site}: {{pfs: ...}}",
        )
    return speeds


def check_tier(given: PlanningInput, speeds: Speeds, tier: str) -> None:
    """Raises CatalogError if ``speeds`` have none of ``tier``."""
    if tier not in speeds.places:
        raise CatalogError(
            f"there are speeds of site {given.site.name}, but none of tier {tier}",
            file=speeds.source,
            would_do=(
                f"pegasus-bb bench --tier {tier}=FOLDER measures it, pegasus-bb learn "
                "a run on it; or declare it, such as "
                f"{tier}: {{read: 8GB/s, write: 6GB/s}}"
            ),
        )


def without_speeds(given: PlanningInput, what: str) -> CatalogError:
    return given.catalogs.sites.document.error(
        f"{what} compares how long a run would take, and no speeds are declared of the "
        f"storage of site {given.site.name}",
        [SPEEDS],
        would_do=(
            f"declare {SPEEDS}, or --bb-speeds FILE, which pegasus-bb bench --speeds "
            "or pegasus-bb learn writes (docs/prediction.md)"
        ),
    )
