"""Refuses what needs the submit directory, where nodes do not see it."""

from __future__ import annotations

from pegasus_bb.decide.decision import PlanningInput
from pegasus_bb.model.dag.blahp import GRID
from pegasus_bb.model.tiers import SUBMIT_DIR, Tier

_OTHERWISE = "or submit_dir: shared, where nodes see it"


def lint_submit_dir(given: PlanningInput, tier: Tier) -> None:
    """Raises CatalogError if the jobs of ``tier``, which travel, need more than what
    they take with them."""
    settings = given.settings
    entry = given.catalogs.tier_entry(tier).below(SUBMIT_DIR)
    if not settings.mode.is_only_shared:
        raise entry.error(
            f"in mode {settings.mode} jobs leave notes in the submit directory, which "
            "the nodes of this tier do not see",
            "local",
            f"--bb-mode persistent; {_OTHERWISE}",
        )
    if settings.falls_back:
        raise entry.error(
            "with --bb-fallback pfs the first job notes in the submit directory that "
            "the run is on its reservation, and the nodes of this tier do not see it",
            "local",
            f"leave --bb-fallback out; {_OTHERWISE}",
        )
    if settings.darshan != "off":
        raise entry.error(
            "Darshan writes its logs to the submit directory, which the nodes of this "
            "tier do not see",
            "local",
            f"leave --bb-darshan out; {_OTHERWISE}",
        )
    if (given.site.profile("pegasus", "style") or "condor").lower() in GRID:
        raise entry.error(
            f"jobs of site {tier.site} reach a batch system through blahp, which hands "
            "over no files: a node opens those of the submit directory itself",
            "local",
            "--dir FOLDER with a folder that nodes see, and submit_dir: shared",
        )
