"""Files for simulate --provision: what they say, and what is refused with its line."""

from __future__ import annotations

from pathlib import Path

import pytest
from pegasus_bb_lab.commands.simulate_provision import show_provisioning
from pegasus_bb_lab.model.applications import Application, Target, read_draining

from pegasus_bb.core.errors import CatalogError
from tests.support.mistakes import check_mistake

GOOD = """\
applications:
  - {name: GTC, size: 20TB, interval: 1h}
  - {name: POP, size: 1400MB, interval: 60s}
io_share: 0.1
target:
  osts: 4
  stripe: 1MB
  upper: 1536
  groups: 2
  aggressive: {a: 0.693, b: 0.163, plateau: 4.0, positioning: 5.5ms}
  conservative: {a: 0.585, b: 1.044, positioning: 2.2ms}
"""
WRONG = [  # in the place of a part of GOOD: the line and key of the error, what it says
    ("name: POP", "name: GTC", 3, "applications.1.name", "second application"),
    ("io_share: 0.1", "io_share: 1.1", 4, "io_share", "is a number from"),
    ("upper: 1536", "upper: 1e400", 8, "target.upper", "whole number from 1"),
]


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "draining.yml"
    path.write_text(GOOD)
    return path


def test_all_that_a_file_says(file: Path) -> None:
    found = read_draining(file)
    assert found.applications == (
        Application("GTC", 20 * 10**12, 3600.0),
        Application("POP", 1400 * 10**6, 60.0),
    )
    assert found.targets == {
        "aggressive": Target(4, 10**6, 12, 1536, 0.693, 0.163, 0.0055, 4.0),
        "conservative": Target(4, 10**6, 12, 1536, 0.585, 1.044, 0.0022),
    }
    assert (found.groups, found.io_share) == (2, 0.1)


@pytest.mark.parametrize(
    ("part", "wrong", "line", "key", "says"),
    WRONG,
    ids=[f"{key} {wrong[:20]}" for _, wrong, _, key, _ in WRONG],
)
def test_a_mistake_has_file_line_and_key(
    file: Path, part: str, wrong: str, line: int, key: str, says: str
) -> None:
    def show(text: str) -> None:
        file.write_text(text)
        show_provisioning(file, as_json=True)

    assert part in GOOD
    check_mistake(show, GOOD.replace(part, wrong, 1), key, line, says)


def test_a_simulation_without_an_end_in_sight_is_refused(file: Path) -> None:
    text = GOOD.replace("interval: 60s", "interval: 1s")
    file.write_text(text.replace("interval: 1h", "interval: 3650d"))
    with pytest.raises(CatalogError, match="takes too long to simulate") as caught:
        show_provisioning(file, as_json=True, seeds=1)
    assert (caught.value.line, caught.value.key) == (3, "applications.1")
