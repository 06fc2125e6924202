"""Replica catalogs of the form File, a line for each replica."""

from __future__ import annotations

from pathlib import Path

import pytest

from pegasus_bb.core.errors import CatalogError
from pegasus_bb.model.catalogs import ReplicaCatalog, read_replicas
from pegasus_bb.model.replica_file import load_replicas

TEXT = r"""
# where the inputs are
f.in     file://${DATA}/f.in   site="cluster" size="120"
"a \"b\"" "/data/a b"  pool="local"
f.in     http://host/f.in?x=1 site=far   checksum.type="sha256"
  plain  /data/plain
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "rc.data"


def read(file: Path, text: str) -> ReplicaCatalog:
    file.write_text(text)
    return read_replicas(load_replicas(file, {"DATA": "/data"}))


def test_every_line_is_a_replica(file: Path) -> None:
    found = read(file, TEXT).replicas
    places = {lfn: [(r.pfn, r.site) for r in each] for lfn, each in found.items()}
    assert places == {
        "f.in": [("file:///data/f.in", "cluster"), ("http://host/f.in?x=1", "far")],
        'a "b"': [("/data/a b", "local")],
        "plain": [("/data/plain", "local")],
    }
    assert found["f.in"][0].size == 120


def test_an_error_about_a_replica_names_its_line(file: Path) -> None:
    catalog = read(file, TEXT)
    lines = {lfn: catalog.error(lfn, "is wrong").line for lfn in catalog.replicas}
    assert lines == {"f.in": 3, 'a "b"': 4, "plain": 6}


@pytest.mark.parametrize(
    ("line", "what"),
    [
        ("only-a-name", "is no replica"),
        ("f.in /data/f.in site", "is no replica"),
        ('f.in "/data/f.in', "is no replica"),
        ('f.in /data/f.in size="much"', "a file's size"),
    ],
)
def test_a_mistake_has_file_and_line(file: Path, line: str, what: str) -> None:
    with pytest.raises(CatalogError, match=what) as error:
        read(file, f"# a comment\nok /data/ok\n{line}\n")
    assert (error.value.file, error.value.line) == (str(file), 3)
