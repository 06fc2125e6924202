"""Running a planned workflow, looking at its reservations, and checking a site."""
