"""A comparison of runs as one HTML file: figures and tables."""

from importlib.util import find_spec

from pegasus_bb.core.missing_library import not_installed

if not (find_spec("altair") and find_spec("vl_convert")):
    raise not_installed("a page", "altair", "vl-convert-python")
