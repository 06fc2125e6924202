"""Many files: two processes read them, and nobody can tell."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from pegasus_bb.report import texts
from pegasus_bb.report.records import read_records
from pegasus_bb.report.texts import read_all

NAMES = ("z-broken-yaml", "counted", "failed", "t-procs")


@pytest.fixture
def paths(recorded: Path, tmp_path: Path) -> list[Path]:
    known = [recorded / f"kickstart-5.1.2-{name}.yml" for name in NAMES]
    return [*known, tmp_path / "missing.out.000"]


@pytest.mark.parametrize("worth", [1, 100])
@pytest.mark.parametrize("count", [0, 1, 2, 5])
def test_each_file_has_its_records_in_order(
    paths: list[Path], monkeypatch: pytest.MonkeyPatch, worth: int, count: int
) -> None:
    monkeypatch.setattr(texts, "WORTH_A_PROCESS", worth)

    found = list(read_all(paths[-count:] if count else []))

    assert found == [list(read_records(path)) for path in paths[-count:][:count]]


def test_a_second_process_reads_some_of_many(tmp_path: Path) -> None:
    """In a process of one thread: pytest-xdist's have more, and then none is forked."""
    story = tmp_path / "story.py"
    story.write_text("""
import os
from pathlib import Path
from pegasus_bb.report import texts
texts.read_records = lambda path: [texts.RecordText(None, f"{os.getpid()}")]
found = list(texts.read_all([Path(f"{number}") for number in range(1000)]))
print(len(found), len({record.why for (record,) in found}))
""")
    words = [sys.executable, str(story)]

    done = subprocess.run(words, capture_output=True, text=True, check=True)

    assert done.stdout.split() == ["1000", "2" if (os.cpu_count() or 1) > 1 else "1"]
