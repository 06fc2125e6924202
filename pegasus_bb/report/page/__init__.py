"""A comparison of runs as one HTML file: figures and tables."""

from pegasus_bb.core.optional import not_installed

try:
    from pegasus_bb.report.page.reported import report_page
except ModuleNotFoundError as missing:
    if missing.name not in ("altair", "vl_convert"):
        raise
    raise not_installed("a page", "altair", "vl-convert-python") from missing

__all__ = ["report_page"]
