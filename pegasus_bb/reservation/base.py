"""The promise that every reservation backend keeps; one contract suite checks it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import List, Mapping, NamedTuple, Sequence

from pegasus_bb.model.reservation import Request, Reservation, State, Status


class Pool(NamedTuple):
    """A pool of fast storage, as the scheduler counts it. All in bytes."""

    name: str
    granularity: int
    total: int
    free: int


class Row(NamedTuple):
    """A reservation as its scheduler lists it, whoever asked for it."""

    name: str
    own: bool  # it belongs to this user
    status: Status


class Unstaged(NamedTuple):
    """The space of a job of this user that has ended, with results that the scheduler
    could not stage out."""

    job: str  # the scheduler's number
    size: int  # bytes
    created: float  # seconds since the epoch, 0.0 where nobody tells
    words: str  # the scheduler's own: why


class Look(NamedTuple):
    """What is true at one moment of many reservations."""

    statuses: List[Status]  # of the requests, in their order
    rows: List[Row]  # all that this user can see
    words: str = ""  # why nothing is known; empty where the scheduler has answered
    unstaged: Sequence[Unstaged] = ()


def unseen(requests: Sequence[Request], words: str) -> Look:
    """Nobody answers, and ``words`` say why: neither up nor gone."""
    return Look([Status(State.UNKNOWN, words) for _ in requests], [], words)


class Backend(ABC):
    """A system that grants, shows and takes back reservations.

    Errors: ReservationFailed where asking again is useless (permanent),
    SchedulerUnreachable where nothing is known (transient).
    """

    @abstractmethod
    def create(self, request: Request) -> Reservation:
        """Ask for a reservation and return at once, before it is up.

        Repeatable: the same request (same uuid) again changes nothing and gives the
        same answer. Raises ReservationFailed where the name is taken by another
        owner or another run, or the request can never be met.
        """

    @abstractmethod
    def status(self, request: Request) -> Status:
        """What is true now. Reads only; may be asked any number of times.

        Never raises for an unreachable scheduler: the state is then UNKNOWN. A
        scheduler that is reached and knows nothing answers ABSENT; the caller, who
        knows whether it was ever up, may call that gone.
        """

    def place(self) -> str:
        """An id of the storage itself; empty where none is needed, or none is seen."""
        return ""

    def why_another(self, place: str) -> str:
        """Why this storage cannot be the one called ``place``; empty where it can.

        It is asked where a reservation that was made (``place``: and was up there)
        is absent: an ABSENT from a place where nothing is mounted means nothing.
        """
        return ""

    def is_bare(self) -> bool:
        """Whether there is not even the place that the first reservation makes; or its
        file system is not mounted: only for who knows of no reservation is it new."""
        return False

    @abstractmethod
    def path(self, request: Request, environ: Mapping[str, str]) -> str:
        """The directory of the reservation as this job sees it.

        Raises ReservationFailed where it is not mounted or carries the identity of
        another run; never gives back a path that would be written by mistake.
        """

    @abstractmethod
    def delete(self, request: Request) -> None:
        """Ask to give it back, data included, and return when it is gone.

        Only after the caller has made sure that nothing is lost. Bounded in time.
        Giving back what is already absent is success. Raises ReservationFailed
        where it stays, or is not ours.
        """

    @abstractmethod
    def pools(self) -> List[Pool]:
        """Pools, the default one first. Raises SchedulerUnreachable."""

    @abstractmethod
    def look(self, requests: Sequence[Request]) -> Look:
        """The status of each of ``requests``, and every row; reads only.

        However many they are, the scheduler is asked as for one. Never raises for
        what it answers: where that is nothing, the statuses are UNKNOWN.
        """

    @abstractmethod
    def whom(self) -> str:
        """Who is asked, in any form: backends that answer alike may be asked for each
        other's requests."""
