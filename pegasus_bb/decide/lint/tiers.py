"""Refuses tiers that cannot serve a workflow in its mode."""

from __future__ import annotations

import re

from pegasus_bb.model.catalogs import Catalogs
from pegasus_bb.model.document import Entry
from pegasus_bb.model.modes import PERSISTENT, RunMode
from pegasus_bb.model.tiers import Tier

# A blank ends a value of a #BB line, and % starts a replacement.
_POOL = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]*")


def lint_tier(catalogs: Catalogs, tier: Tier, mode: RunMode = PERSISTENT) -> None:
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
            f"the disk of a node holds nothing for the jobs on others, nor longer than "
            f"its job runs; mode {mode} wants one place for files that several jobs "
            "share",
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
