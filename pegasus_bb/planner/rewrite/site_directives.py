"""Directives that tell Slurm that a job needs the buffer.

With a Slurm backend sbatch gets ``--bbf=<submit>/bb/use.bbf`` for every job of the
site. A profile glite.arguments of a transformation, a job or the properties overrides
the site's, so each of them gets the option as well.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING

from pegasus_bb.core.errors import UsageError
from pegasus_bb.core.text import WOULD_DO, is_plain
from pegasus_bb.model.properties import Properties
from pegasus_bb.model.reservation import check_reservation_name
from pegasus_bb.planner.rewrite.pass_input import (
    Inputs,
    Keys,
    ProfileSetting,
    Target,
    job_profiles,
    site_index,
    site_profile,
    transformation_profiles,
    with_values,
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
    site = site_profile(inputs, plan.site, ARGUMENTS)
    index = site_index(inputs.sites, plan.site)
    keys: Keys = ("sites", index, "profiles", "pegasus", ARGUMENTS)
    text = option if site is None else _append_option(site, option)
    return replace(
        inputs,
        sites=with_values(inputs.sites, {keys: text}),
        transformations=with_values(
            inputs.transformations,
            _changes(transformation_profiles(inputs, ARGUMENTS), option),
        ),
        workflow=with_values(
            inputs.workflow, _changes(job_profiles(inputs, ARGUMENTS), option)
        ),
        properties=_properties(inputs.properties, option),
    )


def directive_files(plan: Target) -> dict[str, str]:
    """Name -> text of the directive files of ``<submit>/bb``; empty without Slurm."""
    if not plan.request.kind.is_slurm:
        return {}
    template = templates().get_template(f"use.{plan.request.backend}.bbf.j2")
    return {USE: template.render(name=plan.request.name)}


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


def _changes(profiles: Iterator[ProfileSetting], option: str) -> dict[Keys, str]:
    return {setting.keys: _append_option(setting, option) for setting in profiles}


def _append_option(setting: ProfileSetting, option: str) -> str:
    if _names_a_buffer(setting.value):
        raise setting.error(
            _TAKEN, "take out --bb and --bbf, or plan with --bb-mode off"
        )
    if not is_plain(setting.value):
        raise setting.error(_UNSAFE, WOULD_DO)
    return f"{setting.value} {option}".strip()


def with_option(setting: ProfileSetting | None, option: str) -> str:
    """The value of ``setting`` with ``option`` added. Raises CatalogError."""
    return option if setting is None else _append_option(setting, option)


def _properties(properties: Properties, option: str) -> Properties:
    if _PROPERTY not in properties:
        return properties
    value = properties[_PROPERTY]
    if _names_a_buffer(value):
        raise properties.error(_PROPERTY, _TAKEN, "take out --bb and --bbf")
    if not is_plain(value):
        raise properties.error(_PROPERTY, _UNSAFE, WOULD_DO)
    return properties.with_values({_PROPERTY: f"{value} {option}"}, "pegasus-bb")


_UNSAFE = "the batch system's own shell scripts would read more than words in this"
_TAKEN = "sbatch takes one file of burst buffer directives, and planning brings it"


def _names_a_buffer(arguments: str) -> bool:
    words = (word.partition("=")[0] for word in arguments.split())
    return any(word in ("--bb", "--bbf") for word in words)


def checked_path(path: str) -> str:
    """``path``, if it can stand in an option of sbatch. Raises UsageError."""
    if not path or " " in path or not is_plain(path):
        raise UsageError(
            f"the submit directory {path!r} cannot stand in an option of sbatch; "
            "choose a --dir of letters, digits and _ . / + = @ , : -"
        )
    return path
