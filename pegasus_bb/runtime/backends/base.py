"""What every reservation backend promises; one contract suite checks it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence

from pegasus_bb.core.light_typing import NamedTuple
from pegasus_bb.model.reservation import Request, Reservation, State, Status


class PoolSpace(NamedTuple):
    """A pool of fast storage, as the scheduler reports it. All in bytes."""

    name: str
    granularity: int
    total: int
    free: int
    used: int = 0  # by all that the scheduler knows, also what it does not show


class ReservationRow(NamedTuple):
    name: str
    own: bool  # it belongs to this user
    status: Status


class Unstaged(NamedTuple):
    """The space of a job that has ended, if the scheduler could not stage out its
    results."""

    job: str  # the scheduler's number
    size: int  # bytes
    created: float  # seconds since the epoch, 0.0 if unknown
    message: str  # the scheduler's reason


class Listing(NamedTuple):
    statuses: list[Status]  # of the requests, in their order
    rows: list[ReservationRow]  # all that this user can see
    message: str = ""  # why nothing is known; empty if the scheduler has answered
    unstaged: Sequence[Unstaged] = ()


def no_listing(requests: Sequence[Request], reason: str) -> Listing:
    """The listing if the scheduler gives no answer."""
    return Listing([Status(State.UNKNOWN, reason) for _ in requests], [], reason)


class Backend(ABC):
    """A system that grants, lists and takes back reservations.

    Raises ReservationFailed if asking again is useless, and SchedulerUnreachable if
    nothing is known and a later call may succeed.
    """

    @abstractmethod
    def create(self, request: Request) -> Reservation:
        """Ask for a reservation and return at once, before it is up.

        The same request (same uuid) again changes nothing and returns the same answer.
        Raises ReservationFailed if another owner or another run has the name, or if
        the request can never be met.
        """

    @abstractmethod
    def status(self, request: Request) -> Status:
        """The state now. Only reads, so it may be called any number of times.

        If the scheduler cannot be reached, the state is UNKNOWN; nothing is raised. If
        the scheduler does not know the reservation, the state is ABSENT. The caller
        knows whether it was ever ready, and then calls it gone.
        """

    def settle(self) -> None:  # noqa: B027 - most schedulers do it by themselves
        """Do what is due: grant what fits now, finish what killed calls have left.
        Called before a run asks for the status that it acts on."""

    def storage_id(self) -> str:
        """An id of the storage itself; empty if it needs none or none is found."""
        return ""

    def why_other_storage(self, storage_id: str) -> str:
        """Why this storage is not the one with that id; empty if it can be.

        Called if an existing reservation is ABSENT, because an empty mount point gives
        the same answer.
        """
        return ""

    def is_uninitialised(self) -> bool:
        """True if the tier's root has never been initialised, or is not mounted. A
        caller that knows of no reservation takes it for a new tier."""
        return False

    @abstractmethod
    def path(self, request: Request, environ: Mapping[str, str]) -> str:
        """The directory of the reservation as this job sees it.

        Raises ReservationFailed if it is not mounted or has the identity of another
        run; never returns a path that a job would write to by mistake.
        """

    @abstractmethod
    def delete(self, request: Request) -> None:
        """Release the reservation and its data, and return when it is gone.

        The caller has made sure that nothing is lost. The call is bounded in time.
        It succeeds if no reservation is listed; `status` says whether that means
        absent. Raises ReservationFailed if the reservation stays, or is not this
        run's; SchedulerUnreachable if its end cannot be seen.
        """

    @abstractmethod
    def pools(self) -> list[PoolSpace]:
        """Pools, the default one first. Raises SchedulerUnreachable."""

    @abstractmethod
    def list_reservations(self, requests: Sequence[Request]) -> Listing:
        """The status of each of ``requests``, and every row; reads only.

        The scheduler is asked as often for many requests as for one. If it does not
        answer, the statuses are UNKNOWN; nothing is raised.
        """

    @abstractmethod
    def endpoint_id(self) -> str:
        """An id of the queried system. Backends with the same id give the same answers,
        so one of them can list the requests of all."""
