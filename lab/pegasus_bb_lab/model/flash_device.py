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

from pegasus_bb.model.document import Document, Entry
from pegasus_bb.model.document import load as load_document
from pegasus_bb.model.quantities import (
    count,
    flag,
    numbers,
    positive,
    rate,
    seconds,
    size,
)
from pegasus_bb.model.records import check_mapping, key, read_record, record
from pegasus_bb_lab.model.flash_users import Users
from pegasus_bb_lab.model.flash_workflows import Workflows

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

    raw: int = key(size())  # flash
    capacity: int = key(size())  # what the host sees
    block: int = key(size())  # erased at once
    page: int = key(size())  # written at once
    streams: int = key(count(_MOST))
    bandwidth: float = key(rate)  # bytes per second, without garbage collection
    devices: int = key(count(_MOST), 1)
    trim: bool = key(flag, True)  # whether it is told of deleted files


@dataclass(frozen=True, slots=True)
class Load:
    """What writes: users or workflows."""

    time: float = key(seconds("such as 60m"))
    after: float = key(seconds("such as 30m"))
    stripe: int = key(size())  # bytes that a writer writes in its turn to each device
    fill: float = key(positive(1))  # the most live bytes, as a share of the capacity
    # Bytes written to the tier per day; None: no limit.
    per_day: int | None = key(size(), None)
    users: Users | None = key(record(Users), None)
    workflows: Workflows | None = key(record(Workflows), None)

    @property
    def kind(self) -> Users | Workflows:
        kind = self.users or self.workflows
        if kind is None:
            raise ValueError("a load of nothing")
        return kind


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
    document = load_document(path, {})
    entry = Entry(document, (), document.data)
    check_mapping(entry, ("device", "load", "errors"), ("device", "load"))
    device = _read_device(entry.below("device"))
    load = _read_load(entry.below("load"), device)
    found = FlashInput(document, device, load, _read_errors(entry))
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
    device = read_record(Device, entry)
    if device.raw // device.page > _MOST_PAGES:
        raise entry.below("page").error(f"more than {_MOST_PAGES} pages in raw")
    _check_multiple(entry.below("block"), device.block, device.page, "page")
    return device


def _read_load(entry: Entry, device: Device) -> Load:
    load = read_record(Load, entry)
    kinds = [kind for kind in ("users", "workflows") if kind in entry.data]
    if len(kinds) != 1:
        raise entry.error("a load has users or workflows, one of them", str(kinds))
    if load.after >= load.time:
        raise entry.below("after").error("after is before the end of time")
    stripe = entry.below("stripe")
    _check_multiple(stripe, load.stripe, device.page, "page of the device")
    return load


def _check_multiple(entry: Entry, value: int, of: int, name: str) -> None:
    if value % of:
        raise entry.error(f"{entry.key} is a multiple of the {name}, {of} bytes")


def _read_errors(root: Entry) -> tuple[float, ...]:
    if "errors" not in root.data:
        return _ERRORS
    entry = root.below("errors")
    would_do = "errors: [0, 0.5, 1]"
    errors = numbers(_MOST_ERROR, would_do, from_zero=True)(entry)
    if len(set(errors)) < len(errors):
        raise entry.error("errors are different numbers", would_do=would_do)
    return errors
