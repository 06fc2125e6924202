"""Libraries that an installation may have."""

import shlex
import sys

from pegasus_bb.core.errors import UsageError


def not_installed(what: str, *packages: str) -> UsageError:
    """``what`` needs ``packages`` of PyPI, which this Python does not have."""
    install = shlex.join([sys.executable, "-m", "pip", "install", *packages])
    needed = " and ".join(packages)
    return UsageError(f"{what} needs {needed}, not installed here: {install}")
