"""Would this workflow run on this site? Each thing that must hold, and its mend."""

from pegasus_bb.check.everything import findings
from pegasus_bb.check.finding import Finding, Level

__all__ = ["Finding", "Level", "findings"]
