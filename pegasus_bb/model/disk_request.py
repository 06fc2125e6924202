"""How a job asks for the disk of its node, by size: the key ``request`` of a tier.

request: --gres=nvme:{gb}        # words of the batch system's command line
request: request_disk={kib}      # HTCondor's submit command
request: memory+={mb}            # the tier is memory: it counts as the job's own
"""

from __future__ import annotations

import re
from typing import NamedTuple

from pegasus_bb.core.text import WOULD_DO, is_plain, names_a_buffer
from pegasus_bb.model.document import Entry

# Placeholder -> bytes of its unit. Sites that mean 2^30 by GB grant what is more.
UNITS = {"gb": 10**9, "gib": 2**30, "mb": 10**6, "mib": 2**20, "kib": 2**10}
_PLACEHOLDER = re.compile(r"\{([^{}]*)\}")
_EXAMPLES = "such as --gres=nvme:{gb}, request_disk={kib} or memory+={mb}"
_OPTIONS = re.compile(r"-\S+( \S+)*")
# The keys of profiles: of HTCondor's command, of the others Pegasus's.
DISK, MEMORY, ARGUMENTS = "request_disk", "memory", "glite.arguments"


class DiskRequest(NamedTuple):
    """A request with a placeholder for the size, or without one."""

    key: str  # DISK | MEMORY | ARGUMENTS
    namespace: str  # of that profile
    text: str

    @property
    def unit(self) -> str | None:
        """One of UNITS; None if it has no size."""
        found = _PLACEHOLDER.search(self.text)
        return found[1] if found else None

    def of(self, size: int) -> str:
        """The value for ``size`` bytes, rounded up."""
        return self.with_number(str(self.number(size))) if self.unit else self.text

    def number(self, size: int) -> int:
        """``size`` bytes in its unit, rounded up."""
        return max(1, -(-size // UNITS[self.unit or "gib"]))

    def with_number(self, number: str) -> str:
        return _PLACEHOLDER.sub(lambda _: number, self.text)


def read_request(entry: Entry) -> DiskRequest:
    """Raises CatalogError for another form, and for what a shell would interpret."""
    text = str(entry.data)
    units = _PLACEHOLDER.findall(text)
    known = "one of " + ", ".join(f"{{{unit}}}" for unit in UNITS)
    unknown = next((unit for unit in units if unit not in UNITS), None)
    if unknown is not None:
        raise entry.error(f"{{{unknown}}} is no unit of a size", text, known)
    if len(units) > 1:
        raise entry.error("one size at most stands in a request", text, known)
    filled = _PLACEHOLDER.sub("1", text)
    if not is_plain(filled):
        what = "the batch system's own shell scripts would read more than words in this"
        raise entry.error(what, text, WOULD_DO)
    if text == f"{DISK}={{kib}}":
        return DiskRequest(DISK, "condor", "{kib}")  # HTCondor counts KiB
    if text == f"{MEMORY}+={{mb}}":
        return DiskRequest(MEMORY, "pegasus", "{mib}")  # Pegasus counts MiB
    if _OPTIONS.fullmatch(text) is None or names_a_buffer(filled):
        raise entry.error("no form of a request", text, _EXAMPLES)
    return DiskRequest(ARGUMENTS, "pegasus", text)
