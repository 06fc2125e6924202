"""Data without behaviour: catalogs, tiers, reservation, placement, run."""
