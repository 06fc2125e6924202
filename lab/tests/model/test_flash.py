"""Files for simulate --flash: what they say, and what is refused with line and key."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import pytest
from pegasus_bb_lab.model.flash_device import Device, Load, read_flash
from pegasus_bb_lab.model.flash_users import Users
from pegasus_bb_lab.model.flash_workflows import Shape, Stage, Workflows

from pegasus_bb.core.errors import CatalogError
from tests.support.mistakes import check_mistake

HEAD = """\
device:
  raw: 272MiB
  capacity: 240MiB
  block: 2MiB
  page: 256KiB
  streams: 4
  bandwidth: 64MiB/s
load:
  time: 60s
  after: 30s
  stripe: 512KiB
  fill: 0.95
"""
USERS = (
    HEAD
    + """\
  users:
    count: 8
    threads: 2
    file: 4MiB
    drop: 0.15
    capacities: [1, 2.5]
    configuration: 3
errors: [0, 0.5]
"""
)
WORKFLOWS = (
    HEAD
    + """\
  workflows:
    count: 6
    users: 2
    cores: 4
    rate: 8MiB/s
    spread: 0
    pause: 1s
    shapes:
      - name: chain
        stages:
          - {name: first, tasks: 3, writes: 8MiB, computes: 5s}
          - {name: last, tasks: 1, writes: 1MiB, reads: {first: all}, keep: true}
"""
)
OF_USERS = [  # in the place of a part of USERS: line and key of the error, what it says
    ("raw: 272MiB", "raw: 999999TiB", 5, "device.page", "more than"),
    ("64MiB/s", "64", 7, "device.bandwidth", "without a unit"),
    ("bandwidth: 64MiB/s", "bandwidth: 100KiB/s", 11, "load.stripe", "11 stripes in"),
    ("stripe: 512KiB", "stripe: 500KB", 11, "load.stripe", "multiple of the page"),
    ("threads: 2", "threads: true", 15, "load.users.threads", "whole number"),
    ("errors: [0, 0.5]", "errors: [0, 0]", 20, "errors", "different numbers"),
    ("errors:", "error:", 20, "error", "no such key"),
]  # fmt: skip
SHAPE = "load.workflows.shapes.0"
OF_WORKFLOWS = [
    ("name: last", "name: first", 24, f"{SHAPE}.stages.1.name", "second stage"),
    ("{first: all}", "{first: 0}", 24, f"{SHAPE}.stages.1.reads.first", "whole number"),
    ("keep: true", "keep: 1", 24, f"{SHAPE}.stages.1.keep", "true or false"),
]  # fmt: skip


def read(folder: Path, text: str) -> object:
    path = folder / "flash.yml"
    path.write_text(text)
    return read_flash(path)


def test_every_key(tmp_path: Path) -> None:
    users = Users(8, 2, 2**22, 0.15, (1.0, 2.5), 3)
    found = read(tmp_path, USERS)
    assert found.device == Device(
        272 << 20, 240 << 20, 2 << 20, 256 << 10, 4, float(64 << 20), 1, True
    )
    assert found.load == Load(60.0, 30.0, 512 << 10, 0.95, None, users, None)
    assert found.errors == (0.0, 0.5)
    assert (found.stripes, found.capacity) == (60 * 128, 480)

    stages = (
        Stage("first", 3, 8 << 20, 5.0, {}, False),
        Stage("last", 1, 1 << 20, 0.0, {0: None}, True),
    )
    found = read(tmp_path, WORKFLOWS)
    shapes = (Shape("chain", stages),)
    assert found.load.kind == Workflows(6, 2, 4, float(8 << 20), 0.0, 1.0, shapes)
    assert found.errors == (0.0, 0.5, 1.0)


@pytest.mark.parametrize(
    ("good", "part", "wrong", "line", "key", "says"),
    [(USERS, *row) for row in OF_USERS] + [(WORKFLOWS, *row) for row in OF_WORKFLOWS],
    ids=[f"{row[3]} {row[1][:20]!r}" for row in OF_USERS + OF_WORKFLOWS],
)
def test_a_mistake_has_file_line_and_key(
    tmp_path: Path, good: str, part: str, wrong: str, line: int, key: str, says: str
) -> None:
    assert part in good
    check_mistake(
        partial(read, tmp_path), good.replace(part, wrong, 1), key, line, says
    )


def test_what_would_take_hours_is_refused(tmp_path: Path) -> None:
    """Few stripes, each of a great many pages; and tasks that read all of all."""
    small = USERS.replace("page: 256KiB", "page: 64B")
    small = small.replace("stripe: 512KiB", "stripe: 64MiB")
    with pytest.raises(CatalogError, match="pages are written in the time") as caught:
        read(tmp_path, small.replace("time: 60s", "time: 3h"))
    assert (caught.value.line, caught.value.key) == (5, "device.page")
    read(tmp_path, small.replace("time: 60s", "time: 2h"))

    every = WORKFLOWS.replace("tasks: 3", "tasks: 1000")
    read(tmp_path, every)
    last = "          - {name: last, tasks: 1,"
    more = "          - {name: NAME, tasks: 1000, writes: 1MiB, reads: {first: all}}\n"
    stages = more.replace("NAME", "one") + more.replace("NAME", "two")
    with pytest.raises(CatalogError, match="2004001 tasks and reads") as caught:
        read(tmp_path, every.replace(last, stages + last))
    assert caught.value.key == f"{SHAPE}.stages"
