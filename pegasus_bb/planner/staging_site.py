"""--staging-site: where the jobs of a site share their files, for a plain pegasus-plan.

With a tier they share them on the reservation, and without one in the site's scratch.
"""

from __future__ import annotations

from collections.abc import Sequence

from pegasus_bb.model.modes import RunMode


def notes_on(words: Sequence[str], site: str, mode: RunMode) -> tuple[str, ...]:
    """Return a line that says what takes the place of the staging site of ``site``.

    ``words`` are SITE, or EXECUTION_SITE=STAGING_SITE, as pegasus-plan takes them.
    """
    staging = staging_site(words, site)
    if staging == site and not mode.is_shared:
        return ()
    place = "the reservation" if mode.is_shared else f"the scratch of site {site}"
    return (f"--staging-site {staging}: {place} takes its place",)


def staging_site(words: Sequence[str], site: str) -> str:
    """The staging site of ``site``: its own, else that of all sites."""
    pairs = [word.partition("=") for word in words]
    of_all = [first for first, sign, _ in pairs if not sign]
    own = [last for first, sign, last in pairs if sign and first.strip() == site]
    return [site, *of_all, *own][-1].strip()
