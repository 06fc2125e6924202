"""A planning as one HTML file: where files live and why, drawn."""

from pegasus_bb.page.explained import explained_page

__all__ = ["explained_page"]
