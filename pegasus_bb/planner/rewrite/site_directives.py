"""Directives that tell Slurm that a job needs the buffer.

With a Slurm backend sbatch gets ``--bbf=<submit>/bb/use.bbf`` for every job of the
site. A profile glite.arguments of a transformation, a job or the properties overrides
the site's, so each of them gets the option as well.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING

from pegasus_bb.core.errors import UsageError
from pegasus_bb.core.text import WOULD_DO, is_plain, names_a_buffer
from pegasus_bb.model.reservation import Request, check_reservation_name
from pegasus_bb.model.settings import Properties
from pegasus_bb.planner.rewrite.pass_input import (
    Inputs,
    ProfileSetting,
    Target,
    profile_settings,
    site_profile,
    with_settings,
)

if TYPE_CHECKING:  # no other backend needs it, and it is a third of all imports
    from jinja2 import Environment

ARGUMENTS = "glite.arguments"
USE = "use.bbf"
_PROPERTY = f"pegasus.{ARGUMENTS}"


def add_shared_directives(inputs: Inputs, plan: Target) -> Inputs:
    """Raises CatalogError if a job names a buffer of its own already."""
    if not plan.request.kind.is_slurm:
        return inputs
    option = f"--bbf={checked_path(str(plan.submit_dir / 'bb' / USE))}"
    settings = profile_settings(inputs, ARGUMENTS, plan.site)
    changed = with_settings(inputs, ((x, with_option(x, option)) for x in settings))
    if site_profile(inputs, plan.site, ARGUMENTS) is None:
        changed = changed.with_site_profile(plan.site, ARGUMENTS, option)
    return replace(
        changed, properties=properties_with_option(inputs.properties, option)
    )


def shared_directives(request: Request) -> str:
    """The text of ``<submit>/bb/use.bbf``."""
    template = templates().get_template(f"use.{request.backend}.bbf.j2")
    return template.render(name=request.name)


@cache
def templates() -> Environment:
    """The templates of directives; a name that is missing is an error.

    Made once, because each of 100,000 jobs may have directives.
    """
    from jinja2 import Environment, PackageLoader, StrictUndefined

    templates = Environment(  # noqa: S701 - directives, not HTML; one checked filter
        loader=PackageLoader("pegasus_bb.planner.rewrite"),
        undefined=StrictUndefined,
        keep_trailing_newline=True,
        auto_reload=False,
    )
    templates.filters["reservation_name"] = check_reservation_name
    return templates


def with_option(setting: ProfileSetting, option: str) -> str:
    """The value of ``setting`` with ``option`` added. Raises CatalogError."""
    if names_a_buffer(setting.value):
        raise setting.error(
            _TAKEN, "take out --bb and --bbf, or plan with --bb-mode off"
        )
    if not is_plain(setting.value):
        raise setting.error(_UNSAFE, WOULD_DO)
    return f"{setting.value} {option}".strip()


def properties_with_option(properties: Properties, option: str) -> Properties:
    """``properties`` with ``option`` after the arguments of all jobs, if there are
    some. Raises CatalogError."""
    if _PROPERTY not in properties:
        return properties
    value = properties[_PROPERTY]
    if names_a_buffer(value):
        raise properties.error(_PROPERTY, _TAKEN, "take out --bb and --bbf")
    if not is_plain(value):
        raise properties.error(_PROPERTY, _UNSAFE, WOULD_DO)
    return properties.with_values({_PROPERTY: f"{value} {option}"}, "pegasus-bb")


_UNSAFE = "the batch system's own shell scripts would read more than words in this"
_TAKEN = "sbatch takes one file of burst buffer directives, and planning brings it"


def checked_path(path: str) -> str:
    """``path``, if it can stand in an option of sbatch. Raises UsageError."""
    if not path or " " in path or not is_plain(path):
        raise UsageError(
            f"the submit directory {path!r} cannot stand in an option of sbatch; "
            "choose a --dir of letters, digits and _ . / + = @ , : -"
        )
    return path
