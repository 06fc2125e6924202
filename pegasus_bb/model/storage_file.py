"""The file that declares tiers and speeds if the site catalog does not: bb.yml beside
the workflow, or the one that the user names."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from pegasus_bb.core.errors import CatalogError
from pegasus_bb.model.document import Document

_OF_PEGASUS = ("pegasus",)


def documents_of(
    sites: Document, own: Document, keys: Collection[str], *, is_named: bool
) -> Mapping[str, Document]:
    """Return for each of ``keys`` that is declared the document that has it: ``sites``,
    the site catalog, or the user's ``own`` file. One that is named wins.

    Raises CatalogError: another key, a key that both have, no key in a named file.
    """
    own.entry().check_keys((*keys, *_OF_PEGASUS), "a file of tiers")
    if is_named and not own.data.keys() & set(keys):
        raise own.error("declares nothing", would_do=f"one of {', '.join(keys)}")
    for key in keys if not is_named else ():
        if key in own.data and key in sites.data:
            raise declared_twice(sites, own, key)
    found = {key: sites for key in keys if key in sites.data}
    return found | {key: own for key in keys if key in own.data}


def declared_twice(sites: Document, own: Document, key: str) -> CatalogError:
    """The error of ``own`` and ``sites``, which both have ``key``."""
    other = sites.place([key])
    return own.error(
        f"{key} stands in two places, here and in {other}",
        [key],
        would_do="take it out of one of them",
    )
