"""What a user may write after ``bb.tier:`` and in a placement file."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from pegasus_bb.model.placement import PFS
from pegasus_bb.model.tiers import Tier
from pegasus_bb.placement.policy import BB, JOB, LINK
from pegasus_bb.placement.survey import INPUT, File


@dataclass(frozen=True)
class Words:
    """The tier's name, ``bb`` (this tier, unless another has that name), ``pfs``,
    for inputs ``link``, and in mode hybrid the name of another tier where rooms are."""

    meaning: dict[str, str]  # word -> bb | pfs | link | job
    tier: Tier
    readers: Mapping[str, Iterable[str]]  # LFN -> jobs

    @classmethod
    def of(
        cls,
        tier: Tier,
        tiers: Iterable[Tier],
        rooms: Tier | None = None,
        readers: Mapping[str, Iterable[str]] | None = None,
    ) -> Words:
        """The words for a run on ``tier``, one of the site's ``tiers``, with ``rooms``
        on another one."""
        meaning = {tier.name: BB, BB: BB, PFS: PFS, LINK: LINK}
        if tier.name != BB and any(other.name == BB for other in tiers):
            del meaning[BB]
        if rooms is not None:
            meaning[rooms.name] = JOB
        return cls(meaning, tier, readers or {})

    def fault(self, word: str, file: File | None = None) -> str:
        """Why ``word`` cannot be said (of ``file``); empty where it can."""
        if word not in self.meaning:
            return (
                f"no such tier in this run, which reserves tier {self.tier.name} "
                f"of site {self.tier.site}"
            )
        if self.meaning[word] == JOB and file is not None:
            return self._not_in_a_room(word, file)
        if self.meaning[word] != LINK or file is None:
            return ""
        if file.executable:
            return f"{file.lfn} is a staged program, always a copy, never a link"
        if file.role != INPUT:
            return (
                f"{file.lfn} is made by job {file.maker}; only an input can be a link"
            )
        return ""

    def _not_in_a_room(self, word: str, file: File) -> str:
        if file.role == INPUT:
            why = "no job makes it"
        elif file.lfn in self.readers:
            jobs = sorted(set(self.readers[file.lfn]))
            one = len(jobs) == 1
            who = f"job {jobs[0]} reads" if one else f"jobs {', '.join(jobs)} read"
            why = f"{who} it"
        else:
            return ""
        return (
            f"{file.lfn} cannot live on tier {word}, where a job has a room for what "
            f"it makes and no other reads: {why}"
        )

    def choices(self, file: File | None = None) -> str:
        """What would do, for an error."""
        fit = (word for word in self.meaning if not self.fault(word, file))
        return "one of " + ", ".join(fit)
