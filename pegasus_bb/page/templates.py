"""The Jinja templates of the pages; they escape every name."""

from __future__ import annotations

from functools import cache

import vl_convert
from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from pegasus_bb.model.text import readable
from pegasus_bb.page.charts import CONFIG
from pegasus_bb.page.figure import format_quantity
from pegasus_bb.units import format_duration, format_reserved, format_size


def _printable(value: object) -> object:
    """A string with its control characters escaped; a macro's markup as it is."""
    return readable(value) if type(value) is str else value


@cache
def _vega() -> Markup:
    """The JavaScript of Vega, Vega-Lite and Vega-Embed, so that no page loads it."""
    return Markup(vl_convert.javascript_bundle("window.vegaEmbed = vegaEmbed;"))  # noqa: S704


def templates() -> Environment:
    """The environment, with filters for numbers and the Vega libraries."""
    found = Environment(
        loader=PackageLoader("pegasus_bb"),
        undefined=StrictUndefined,
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        finalize=_printable,
    )
    found.filters["size"] = lambda size: format_size(int(size))
    found.filters["reserved"] = format_reserved
    found.filters["duration"] = format_duration
    found.filters["quantity"] = format_quantity
    found.globals["vega"] = _vega()
    found.globals["config"] = CONFIG
    return found
