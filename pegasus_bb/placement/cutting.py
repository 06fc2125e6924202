"""Which cut: the one of those that are allowed with which the least is reserved."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from pegasus_bb.placement.chains import Chains
from pegasus_bb.placement.cuts import Cut, Cuts

LEAST = 5  # per cent of what is reserved that auto has to save
MOST = 5  # per cent of what tasks read and write that may go to the PFS for it
LONGER = 5  # per cent that the run may take longer for it
ALL_PAIRS = 200  # levels: for so many each cut is looked at where both ends are free
_ROUNDS = 3  # else: so often is each end moved to where it is best for the other


class Priced(NamedTuple):
    """A cut, and what is reserved with it, in bytes times how long."""

    cut: Cut
    reserved: float
    span: float


@dataclass(frozen=True)
class Prices:
    """What all cuts of a placement are measured by."""

    chains: Chains
    reserve: Callable[[int], int]  # bytes of files -> bytes to reserve
    fits: Callable[[int], bool]  # whether a given capacity holds so many
    rooms: Sequence[float]  # what rooms of jobs up to each level reserve, from 0
    whole: float  # what is reserved without a cut
    traffic: int
    wait: float | None  # how long the reservation is waited for, where that is known

    def of(self, cut: Cut) -> Priced:
        """Filling takes as much longer as more is copied."""
        span = self.chains.kept(cut.opens, cut.closes)
        around = self.chains.lasts.around
        span += around * cut.carried / max(1, cut.need, cut.carried)
        rooms = self.rooms[cut.closes] - self.rooms[cut.opens]
        return Priced(cut, self.reserve(cut.need) * span + rooms, span)

    def saves(self, each: Priced, percent: int = 0) -> bool:
        """Something, and so many per cent."""
        less = 100 * each.reserved <= (100 - percent) * self.whole
        possible = each.cut.is_free and each.cut.need > 0 and self.fits(each.cut.need)
        return possible and less and each.reserved < self.whole

    def pays(self, each: Priced) -> bool:
        """Whether it is worth moving an end that nobody insisted on."""
        return self.saves(each, LEAST) and self.is_near(each) and self.is_short(each)

    def is_near(self, each: Priced) -> bool:
        """Whether little goes to the PFS."""
        return 100 * each.cut.moved <= MOST * self.traffic

    def is_short(self, each: Priced) -> bool:
        """Whether the run takes little longer, the wait included where it is known."""
        more = self.chains.longer(each.cut.opens)
        if each.cut.opens and self.chains.lasts.unit == "seconds":
            more += self.wait or 0.0
        return 100 * more <= LONGER * self.chains.span


@dataclass(frozen=True)
class Wanted:
    """What the user says of both ends."""

    opens: str  # start | auto | late
    closes: str  # end | auto | early

    def allows(self, each: Priced, levels: int, prices: Prices) -> bool:
        """Whether that cut may be taken: an end that was not insisted on moves only
        where that pays."""
        late, early = each.cut.opens > 0, each.cut.closes < levels
        if (late, early) == (False, False) or not prices.saves(each):
            return False
        if late < (self.opens == "late") or early < (self.closes == "early"):
            return False
        auto = (late and self.opens == "auto") or (early and self.closes == "auto")
        return not auto or prices.pays(each)


def best(cuts: Cuts, prices: Prices, wanted: Wanted) -> Priced | None:
    """The one that reserves least; None where none is allowed. Where two ends of a
    workflow with more than ALL_PAIRS levels are free: one of which neither end could be
    moved to where it were better, and none that moves one end alone is. Linear in uses,
    and in ALL_PAIRS squared."""

    def least(some: Iterable[Cut], start: Priced | None = None) -> Priced | None:
        found = start
        for each in map(prices.of, some):
            better = found is None or _rank(each) < _rank(found)
            if better and wanted.allows(each, cuts.levels, prices):
                found = each
        return found

    if wanted.opens == "start":
        return least(cuts.row(0))
    if wanted.closes == "end":
        return least(cuts.column(cuts.levels))
    if cuts.levels <= ALL_PAIRS:
        return least(cuts.rows())
    found: Priced | None = None
    rows, columns = set[int](), set[int]()
    for opens, closes in _begin(cuts, prices):
        for _ in range(_ROUNDS):
            if opens not in rows:
                found = least(cuts.row(opens), found)
            closes = found.cut.closes if found else closes
            if closes not in columns:
                found = least(cuts.column(closes), found)
            rows.add(opens)
            columns.add(closes)
            opens = found.cut.opens if found else opens
    return least(cuts.row(0), least(cuts.column(cuts.levels), found))


def _begin(cuts: Cuts, prices: Prices) -> Iterator[tuple[int, int]]:
    """Ends to begin with: each where it is best alone, of what pays, or else of what
    saves anything, and so that there is a level for the other to move."""
    for one in (cuts.column(cuts.levels), cuts.row(0)):
        some = [p for p in map(prices.of, one) if p.cut.closes - p.cut.opens > 1]
        saving = list(filter(prices.saves, some))
        paying = list(filter(prices.pays, saving))
        for alone in sorted(paying or saving, key=_rank)[:1]:
            yield alone.cut.opens, alone.cut.closes


def _rank(each: Priced) -> tuple[float, int, int]:
    return each.reserved, each.cut.opens, each.cut.closes


def why_not(some: Iterable[Priced], prices: Prices) -> str:
    """Why none of these pays; empty where one does."""
    saving = [each for each in some if prices.saves(each, LEAST)]
    if not saving:
        return f"no cut through the workflow would save {LEAST} % or more"
    near = [each for each in saving if prices.is_near(each)]
    if not near:
        return (
            f"more than {MOST} % of what tasks read and write on the tier would go to "
            "the PFS"
        )
    if not any(prices.is_short(each) for each in near):
        return f"the run would take more than {LONGER} % longer"
    return ""
