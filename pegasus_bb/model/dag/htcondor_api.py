"""The only place that imports htcondor2, so that it never looks for a pool.

Without CONDOR_CONFIG the library searches for a configuration and complains if there
is none. The variable is restored, so that child processes see what the user set.
"""

from __future__ import annotations

import importlib
import os
from functools import cache
from types import ModuleType


@cache
def htcondor2() -> ModuleType:
    """Load it where it is needed first: it takes as long as all else of `ls`."""
    before = os.environ.get("CONDOR_CONFIG")
    os.environ["CONDOR_CONFIG"] = os.devnull
    try:
        return importlib.import_module("htcondor2")
    finally:
        if before is None:
            del os.environ["CONDOR_CONFIG"]
        else:
            os.environ["CONDOR_CONFIG"] = before
