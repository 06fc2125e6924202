"""What a planning settles before it reads the workflow: the mode, and the planner."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pegasus_bb.model.properties import Properties, Settings, read_settings
from pegasus_bb.planner.options import PlanOptions
from pegasus_bb.planner.pegasus.home import Home, chosen_home
from pegasus_bb.planner.reading import (
    check_fallback_is_of_use,
    check_job_tier_is_of_use,
    properties_of,
)

if TYPE_CHECKING:
    from pegasus_bb.simulation.workflow.choice import Compared


@dataclass(frozen=True)
class Chosen:
    """``options`` with a mode that is not ``auto``, and what they say."""

    options: PlanOptions
    properties: Properties
    settings: Settings
    home: Home | None  # of the Pegasus that plans; None: the built-in planner
    predicted: Compared | None  # what ``auto`` was chosen by


def choose(options: PlanOptions) -> Chosen:
    """Raises UsageError: options that do not go together, no speeds for ``auto``, no
    Pegasus where one has to be."""
    properties = properties_of(options)
    settings = read_settings(properties, options.cwd)
    check_fallback_is_of_use(options, settings)
    check_job_tier_is_of_use(options, settings)
    predicted = None
    if settings.mode == "auto":
        from pegasus_bb.planner.predictions import chosen_mode  # slow to load

        options, predicted = chosen_mode(options)
        properties = properties_of(options)
        settings = read_settings(properties, options.cwd)
    home = chosen_home(settings.planner, os.environ)
    return Chosen(options, properties, settings, home, predicted)
