"""Who plans, in a line for a person."""

from __future__ import annotations

import os

from pegasus_bb.model.properties import Properties
from pegasus_bb.model.settings import PREFIX
from pegasus_bb.planner.pegasus.home import PLAN, Home


def planned_by(properties: Properties, home: Home | None, version: str = "") -> str:
    """Which planner does it, and why that one."""
    said = properties.origin(PREFIX + "planner")
    if home is None:
        why = said or "no pegasus-plan in PEGASUS_HOME or on PATH"
        return f"planner:  built-in ({why})"
    by = "PEGASUS_HOME" if home.is_of(os.environ.get("PEGASUS_HOME", "")) else "PATH"
    return f"planner:  {version or PLAN} in {home.bin} ({by})"
