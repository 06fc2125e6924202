"""What a user may write after ``bb.tier:`` and in a placement file."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from pegasus_bb.model.placement import PFS
from pegasus_bb.model.tiers import Tier
from pegasus_bb.placement.policy import BB, LINK
from pegasus_bb.placement.survey import INPUT, File


@dataclass(frozen=True)
class Words:
    """The tier's name, ``bb`` (this tier, unless another has that name), ``pfs``,
    and for inputs ``link``."""

    meaning: dict[str, str]  # word -> bb | pfs | link
    tier: Tier

    @classmethod
    def of(cls, tier: Tier, tiers: Iterable[Tier]) -> Words:
        """The words for a run on ``tier``, one of the site's ``tiers``."""
        meaning = {tier.name: BB, BB: BB, PFS: PFS, LINK: LINK}
        if tier.name != BB and any(other.name == BB for other in tiers):
            del meaning[BB]
        return cls(meaning, tier)

    def fault(self, word: str, file: File | None = None) -> str:
        """Why ``word`` cannot be said (of ``file``); empty where it can."""
        if word not in self.meaning:
            return (
                f"no such tier in this run, which reserves tier {self.tier.name} "
                f"of site {self.tier.site}"
            )
        if self.meaning[word] != LINK or file is None:
            return ""
        if file.executable:
            return f"{file.lfn} is a staged program, always a copy, never a link"
        if file.role != INPUT:
            return (
                f"{file.lfn} is made by job {file.maker}; only an input can be a link"
            )
        return ""

    def choices(self, file: File | None = None) -> str:
        """What would do, for an error."""
        fit = (word for word in self.meaning if not self.fault(word, file))
        return "one of " + ", ".join(fit)
