"""A planning, or a comparison of runs, as one HTML file: drawn, and in tables."""

from pegasus_bb.page.explained import explained_page
from pegasus_bb.page.reported import report_page

__all__ = ["explained_page", "report_page"]
