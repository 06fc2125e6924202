"""The Jinja templates of the pages; they escape every name."""

from __future__ import annotations

import re
from functools import cache

import vl_convert
from jinja2 import ChoiceLoader, Environment, PackageLoader, StrictUndefined
from markupsafe import Markup, escape

from pegasus_bb.core.text import readable
from pegasus_bb.core.units import (
    format_duration,
    format_gib_hours,
    format_reserved,
    format_size,
)
from pegasus_bb.report.page.charts import CONFIG
from pegasus_bb.report.page.figure import format_quantity

_QUANTITY = re.compile(
    r"\d[\d.]* (?:\u00b1 [\d.]+ )?(?:min \d\d s|h \d\d min|s|times)\b"
)


def _printable(value: object) -> object:
    """Escape the control characters of a string; leave a macro's markup as it is."""
    return readable(value) if type(value) is str else value


def _unbroken(text: str) -> Markup:
    """Escape ``text``, and let no line end between a number and its unit."""
    # The escaped text has no mark of HTML in it but ours.
    return Markup(_QUANTITY.sub(r"<span>\g<0></span>", str(escape(readable(text)))))  # noqa: S704


def _sentence(text: str) -> str:
    """Turn a line of the terminal into a sentence."""
    return f"{text[:1].upper()}{text[1:]}{'' if text.endswith('.') else '.'}"


@cache
def _vega() -> Markup:
    """Return the JavaScript of Vega, Vega-Lite and Vega-Embed, so that no page loads
    it."""
    return Markup(vl_convert.javascript_bundle("window.vegaEmbed = vegaEmbed;"))  # noqa: S704


def templates(*packages: str) -> Environment:
    """Make the environment, with filters for numbers and the Vega libraries.

    ``packages`` have templates of their own, which use those of the pages."""
    loaders = [PackageLoader(name) for name in (*packages, "pegasus_bb.report.page")]
    found = Environment(
        loader=ChoiceLoader(loaders),
        undefined=StrictUndefined,
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        finalize=_printable,
    )
    found.filters["size"] = lambda size: format_size(round(size))
    found.filters["reserved"] = format_reserved
    found.filters["gib_hours"] = format_gib_hours
    found.filters["duration"] = format_duration
    found.filters["unbroken"] = _unbroken
    found.filters["sentence"] = _sentence
    found.filters["quantity"] = format_quantity
    found.globals["vega"] = _vega()
    found.globals["config"] = CONFIG
    return found
