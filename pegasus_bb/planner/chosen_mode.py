"""Chooses the mode and the planner before the workflow is planned."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pegasus_bb.model.settings import Properties, Settings, read_settings
from pegasus_bb.planner.options import PlanOptions
from pegasus_bb.planner.pegasus_home import PegasusHome, resolve_home
from pegasus_bb.planner.reading import (
    check_fallback_applies,
    check_job_tier_applies,
    properties_of,
)

if TYPE_CHECKING:
    from pegasus_bb.forecast.workflow.mode_choice import Compared


@dataclass(frozen=True)
class ResolvedOptions:
    """The user's options with ``auto`` resolved, and the settings that follow."""

    options: PlanOptions
    properties: Properties
    settings: Settings
    home: PegasusHome | None  # the Pegasus that plans; None: the built-in planner
    predicted: Compared | None  # the comparison by which ``auto`` was resolved


def resolve_options(options: PlanOptions) -> ResolvedOptions:
    """Raises UsageError if options contradict each other, if ``auto`` has no speeds, or
    if there is no Pegasus where one is required."""
    properties = properties_of(options)
    settings = read_settings(properties, options.cwd)
    check_fallback_applies(options, settings)
    check_job_tier_applies(options, settings)
    predicted = None
    if settings.mode.is_chosen:
        from pegasus_bb.planner.predictions import choose_mode  # slow to load

        options, predicted = choose_mode(options)
        properties = properties_of(options)
        settings = read_settings(properties, options.cwd)
    home = resolve_home(settings.planner, os.environ)
    return ResolvedOptions(options, properties, settings, home, predicted)
