"""The templates of our pages: names in them are text, whatever they hold."""

from __future__ import annotations

from jinja2 import Environment, PackageLoader, StrictUndefined

from pegasus_bb.model.readable import readable
from pegasus_bb.page.said import said
from pegasus_bb.units import format_duration, format_size


def _as_itself(value: object) -> object:
    """What a template says of ``value``; what a macro made is markup and stays."""
    return readable(value) if type(value) is str else value


def templates() -> Environment:
    """With what turns numbers into words."""
    found = Environment(
        loader=PackageLoader("pegasus_bb"),
        undefined=StrictUndefined,
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        finalize=_as_itself,
    )
    found.filters["size"] = lambda size: format_size(int(size))
    found.filters["duration"] = format_duration
    found.filters["said"] = said
    return found
