"""How results leave a tier: what can be said, and each mistake with its line."""

from __future__ import annotations

from pathlib import Path

import pytest

from pegasus_bb.core.errors import CatalogError
from pegasus_bb.model.document import load
from pegasus_bb.model.drain_policies import PACED, DrainRule
from pegasus_bb.model.tier_drain import TierDrain, read_drain


def drain(folder: Path, text: str) -> TierDrain:
    file = folder / "sites.yml"
    file.write_text(f"drain: {text}\n")
    return read_drain(load(file, {}).entry("drain"))


def test_all_of_a_target(tmp_path: Path) -> None:
    curve = "{a: 0.693, b: 0.163, n_ost: 4, stripe: 1MB, positioning: 5.5ms}"
    text = f"{{target: scratch, limit: 20GB/s, registry: /lus/x, curve: {curve}}}"
    found = drain(tmp_path, text)
    assert found.rule == DrainRule(PACED)
    assert found.target is not None
    assert found.target.to_json() == {
        "name": "scratch",
        "limit": 20e9,
        "registry": "/lus/x",
        "curve": {
            "a": 0.693,
            "b": 0.163,
            "n_ost": 4,
            "stripe": 10**6,
            "positioning": 0.0055,
            "upper": 1536,
        },
    }


CURVE = "a: 1, b: 1, n_ost: 4, stripe: 1MB"


@pytest.mark.parametrize(
    ("text", "key", "what"),
    [
        ("fast", "drain", "is not one of"),
        ("0.25MiB/s", "drain", "a rate is such as 32MiB/s"),
        ("{limit: 1GB/s}", "drain", "without target"),
        ("{target: t}", "drain", "limits nothing"),
        ("{target: t, limit: 1GB/s, speed: 1}", "speed", "no such key"),
        ("{target: t, limit: fast}", "limit", "is not one of"),
        ("{target: t, limit: 1GB/s, registry: lus}", "registry", "full path"),
        ("{target: t, curve: {a: 1}}", "curve", "without b"),
        (f"{{target: t, curve: {{{CURVE}, upper: 3}}}}", "upper", "at least 12"),
        (
            "{target: t, curve: {a: 1, b: -9, n_ost: 4, stripe: 1MB}}",
            "curve",
            "no bandwidth",
        ),
        (f"{{target: t, curve: {{{CURVE}, positioning: 5}}}}", "positioning", "time"),
        ("{target: t, curve: {a: x, b: 1, n_ost: 4, stripe: 1MB}}", "a", "a number"),
        ("{target: t, curve: {a: 1, b: 1, n_ost: 4, stripe: 0}}", "stripe", "above"),
    ],
)
def test_mistakes_name_file_line_and_key(
    tmp_path: Path, text: str, key: str, what: str
) -> None:
    with pytest.raises(CatalogError) as raised:
        drain(tmp_path, text)
    assert "sites.yml" in str(raised.value)
    assert raised.value.line == 1
    assert raised.value.key.endswith(key)
    assert what in str(raised.value)
