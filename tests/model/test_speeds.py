"""How fast storage is, as a site catalog or a file of its own says it."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import pytest
import yaml

from pegasus_bb.core.errors import CatalogError
from pegasus_bb.model.catalogs import SPEEDS
from pegasus_bb.model.document import load
from pegasus_bb.model.history import Startup
from pegasus_bb.model.speeds import Speed, Speeds, read_speeds

PFS = {"read": "8GB/s", "write": "6GB/s", "job_read": "400MB/s", "latency": "2ms"}


def read(folder: Path, data: Any, site: str = "cluster") -> Speeds | None:
    path = folder / "sites.yml"
    path.write_text(yaml.safe_dump({SPEEDS: data}, sort_keys=False))
    return read_speeds(load(path, {}), (SPEEDS,), site)


def test_a_site_says_how_fast_its_places_are(tmp_path: Path) -> None:
    speeds = read(tmp_path, {"cluster": {"slots": 64, "pfs": PFS}})
    assert speeds is not None
    assert speeds.slots == 64
    assert speeds.pfs == Speed(8e9, 6e9, 4e8, 6e9, 0.002)
    assert speeds.source == f"{tmp_path}/sites.yml:2"
    startup = {"queue": "20s", "job": "500ms"}
    engine = read(tmp_path, {"cluster": {"pfs": PFS, "startup": startup}})
    assert engine.startup == Startup(queue=20.0, job=0.5)
    decimal = {**PFS, "read": "1.5GB/s"}
    assert read(tmp_path, {"cluster": {"pfs": decimal}}).pfs.read == 1.5e9
    fast = {**PFS, "job_read": "50GB/s"}  # one job is not faster than all
    assert read(tmp_path, {"cluster": {"slots": 64, "pfs": fast}}).pfs.job_read == 8e9
    assert read(tmp_path, {"other": {"pfs": PFS}}) is None


@pytest.mark.parametrize(
    ("said", "key", "words"),
    [
        ({"bb": PFS}, "cluster", "speed of the PFS is missing"),
        ({"pfs": {"read": "8GB/s"}}, "cluster.pfs", "without write"),
        ({"pfs": {**PFS, "red": "1GB"}}, "cluster.pfs.red", "did you mean read"),
        (
            {"pfs": {**PFS, "read": "10Gb/s"}},
            "cluster.pfs.read",
            r"bits[\s\S]*1.25GB/s",
        ),
        ({"pfs": {**PFS, "read": "fast"}}, "cluster.pfs.read", "not a speed"),
        ({"pfs": {**PFS, "write": "0"}}, "cluster.pfs.write", "above zero"),
        ({"pfs": {**PFS, "read": 8000}}, "cluster.pfs.read", "without a unit"),
        ({"pfs": {**PFS, "latency": "2"}}, "cluster.pfs.latency", "such as 2ms"),
        ({"pfs": PFS, "startup": {"job": "1h"}}, "cluster.startup.job", "such as 2s"),
        ({"pfs": {**PFS, "per_node": 1}}, "cluster.pfs.per_node", "true or false"),
        ({"pfs": {**PFS, "task_bytes": "1MB"}}, "cluster.pfs.task_bytes", "two sizes"),
        ({"pfs": {**PFS, "task_bytes": [2, 1]}}, "cluster.pfs.task_bytes", "smaller"),
        ({"pfs": PFS, "slots": 0}, "cluster.slots", "whole number"),
        ({"pfs": "fast"}, "cluster.pfs", "pfs is a mapping"),
        ("fast", "cluster", "mapping of site to places"),
    ],
)
def test_a_mistake_is_named_with_its_key(
    tmp_path: Path, said: Any, key: str, words: str
) -> None:
    with pytest.raises(CatalogError, match=words) as caught:
        read(tmp_path, {"cluster": said})
    assert caught.value.key == f"{SPEEDS}.{key}".rstrip(".")
    assert caught.value.line >= 1


def test_rates_that_were_not_measured_have_no_upper_end(tmp_path: Path) -> None:
    told = {**PFS, "at_least": "bytes", "error_percent": 25}
    speeds = read(tmp_path, {"cluster": {"pfs": told, "bb": told}})
    assert not speeds.is_known
    assert speeds.pessimistic.places["bb"].job_read == 4e8 / 1.25
    assert speeds.pessimistic.pfs.job_read > 1e14
    assert speeds.optimistic.places["bb"].write > 1e14
    assert speeds.optimistic.pfs.write == 6e9 / 1.25
    calls = read(
        tmp_path, {"cluster": {"pfs": {**PFS, "ops": "9/s", "at_least": "calls"}}}
    )
    assert calls.pfs.job_ops == math.inf
    assert calls.pfs.slowest.job_ops == 9.0
