"""A flash device, and the users or workflows that write on it (docs/flash.md).

device: {raw: 1024GiB, capacity: 960GB, block: 128MiB, page: 512KiB, streams: 8,
         bandwidth: 950MB/s, devices: 1, trim: true}
load:
  time: 60m            # simulated
  after: 30m           # figures are of the time after
  stripe: 512KiB       # a writer's turn
  fill: 0.96           # of the capacity
  users: {...}         # or workflows: {...}, see those files
errors: [0, 0.5]       # sigma of the predicted lifetimes
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from pegasus_bb.model.document import Document, Entry, load
from pegasus_bb.model.quantities import (
    check_mapping,
    read_count,
    read_positive,
    read_seconds,
    read_size,
)
from pegasus_bb.model.speeds import read_rate
from pegasus_bb_lab.model.flash_users import Users, read_users
from pegasus_bb_lab.model.flash_workflows import Workflows, read_workflows

_DEVICE = ("raw", "capacity", "block", "page", "streams", "bandwidth")
_LOAD = ("time", "after", "stripe", "fill")
_KINDS = ("users", "workflows")
_MOST_PAGES = 1 << 27  # two gigabytes
_MOST = 256  # streams, devices: their numbers have 8 bits
_LEAST_STRIPES = 100  # of one run; fewer show nothing
_MOST_STRIPES = 10**8  # minutes, and a gigabyte
_MOST_WRITTEN = 10**10  # pages of one run: ten minutes
_ERRORS = (0.0, 0.5, 1.0)
_MOST_ERROR = 5.0


@dataclass(frozen=True, slots=True)
class Device:
    """One of ``devices`` that files are striped over. Sizes are bytes."""

    raw: int  # flash
    capacity: int  # what the host sees
    block: int  # erased at once
    page: int  # written at once
    streams: int
    bandwidth: float  # bytes per second, without garbage collection
    devices: int
    trim: bool  # whether it is told of deleted files


@dataclass(frozen=True, slots=True)
class Load:
    time: float  # seconds
    after: float
    stripe: int  # bytes that a writer writes in its turn to each device
    fill: float  # the most live bytes, as a share of the capacity
    per_day: int | None  # bytes written to the tier per day; None: no limit
    kind: Users | Workflows


@dataclass(frozen=True)
class FlashInput:
    document: Document
    device: Device
    load: Load
    errors: tuple[float, ...]

    @property
    def stripes(self) -> int:
        """Stripes that a device without garbage collection takes in the time."""
        return int(self.load.time * self.device.bandwidth / self.load.stripe)

    @property
    def capacity(self) -> int:
        """Stripes that fit on a device."""
        return self.device.capacity // self.load.stripe


def read_flash(path: Path) -> FlashInput:
    """Raises CatalogError."""
    document = load(path, {})
    entry = Entry(document, (), document.data)
    check_mapping(entry, ("device", "load", "errors"), ("device", "load"))
    device = _read_device(entry.below("device"))
    wanted = _read_load(entry.below("load"), device)
    found = FlashInput(document, device, wanted, _read_errors(entry))
    _check_effort(entry, found)
    return found


def _check_effort(entry: Entry, found: FlashInput) -> None:
    """The run ends, and shows something."""
    stripe = entry.below("load", "stripe")
    page = entry.below("device", "page")
    if not found.capacity:
        raise stripe.error("no stripe fits on a device")
    if not _LEAST_STRIPES <= found.stripes <= _MOST_STRIPES:
        counts = f"{_LEAST_STRIPES} to {_MOST_STRIPES}"
        raise stripe.error(f"{found.stripes} stripes in the time; {counts} do")
    pages = found.stripes * (found.load.stripe // found.device.page)
    if pages > _MOST_WRITTEN:
        what = f"{pages:.2g} pages are written in the time; {_MOST_WRITTEN:.0g} do"
        raise page.error(what, would_do="a larger page, or less time")
    if found.load.fill * found.capacity < 1:
        raise entry.below("load", "fill").error("no stripe fits into this part")


def _read_device(entry: Entry) -> Device:
    check_mapping(entry, (*_DEVICE, "devices", "trim"), _DEVICE)
    trim = entry.data.get("trim", True)
    if not isinstance(trim, bool):
        raise entry.below("trim").error("trim is true or false")
    device = Device(
        raw=read_size(entry, "raw"),
        capacity=read_size(entry, "capacity"),
        block=read_size(entry, "block"),
        page=read_size(entry, "page"),
        streams=read_count(entry, "streams", most=_MOST),
        bandwidth=read_rate(entry.below("bandwidth")),
        devices=read_count(entry, "devices", 1, _MOST),
        trim=trim,
    )
    if device.raw // device.page > _MOST_PAGES:
        raise entry.below("page").error(f"more than {_MOST_PAGES} pages in raw")
    _check_multiple(entry, "block", device.page, "page")
    return device


def _read_load(entry: Entry, device: Device) -> Load:
    check_mapping(entry, (*_LOAD, *_KINDS, "per_day"), _LOAD)
    kinds = [kind for kind in _KINDS if kind in entry.data]
    if len(kinds) != 1:
        raise entry.error("a load has users or workflows, one of them", str(kinds))
    kind: Users | Workflows
    if kinds == ["users"]:
        kind = read_users(entry.below("users"))
    else:
        kind = read_workflows(entry.below("workflows"))
    seconds = read_seconds(entry, "time", "such as 60m")
    after = read_seconds(entry, "after", "such as 30m")
    if after >= seconds:
        raise entry.below("after").error("after is before the end of time")
    _check_multiple(entry, "stripe", device.page, "page of the device")
    return Load(
        time=seconds,
        after=after,
        stripe=read_size(entry, "stripe"),
        fill=read_positive(entry, "fill", 1),
        per_day=read_size(entry, "per_day") if "per_day" in entry.data else None,
        kind=kind,
    )


def _check_multiple(entry: Entry, key: str, of: int, name: str) -> None:
    if read_size(entry, key) % of:
        raise entry.below(key).error(f"{key} is a multiple of the {name}, {of} bytes")


def _read_errors(entry: Entry) -> tuple[float, ...]:
    given = entry.data.get("errors", list(_ERRORS))
    fits = isinstance(given, list) and all(
        type(each) in (int, float) and 0 <= each <= _MOST_ERROR for each in given
    )
    if not fits or not given or len(set(given)) < len(given):
        what = f"errors are a list of numbers from 0 to {_MOST_ERROR:g}"
        raise entry.below("errors").error(what, would_do="errors: [0, 0.5, 1]")
    return tuple(map(float, given))
