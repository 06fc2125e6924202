"""Every pegasus.bb.* property, and each mistake."""

from __future__ import annotations

from pathlib import Path

import pytest

from pegasus_bb.core.errors import CatalogError
from pegasus_bb.core.units import GIB
from pegasus_bb.model.drain_policies import PACED, DrainRule
from pegasus_bb.model.modes import PERSISTENT
from pegasus_bb.model.settings import (
    AUTO,
    EarlierRun,
    Properties,
    Setting,
    Settings,
    read_settings,
)


def read(**said: str) -> Settings:
    values = {f"pegasus.bb.{key}": Setting(text, "-D") for key, text in said.items()}
    return read_settings(Properties(values), Path("/home/me"))


def test_without_a_property_of_ours_it_is_plain_pegasus() -> None:
    assert not Settings().mode.uses_tier
    assert read(capacity="auto").capacity == AUTO
    properties = Properties({"pegasus.bbx": Setting("1", "-D")})
    assert read_settings(properties, Path()) == Settings()


def test_every_setting() -> None:
    said: dict[str, tuple[str, object]] = {
        "mode": ("persistent", PERSISTENT),
        "planner": ("builtin", "builtin"),
        "tiers": ("bb.yml", Path("/home/me/bb.yml")),
        "tier": ("bb", "bb"),
        "job_tier": ("nvme", "nvme"),
        "capacity": ("700GiB", 700 * GIB),
        "placement": ("p.yml", Path("/home/me/p.yml")),
        "wait": ("2h", 7200),
        "poll": ("30s", 30),
        "headroom": ("25", 25),
        "share": ("80", 80),
        "chains": ("auto", "auto"),
        "chain_time": ("2h", 7200),
        "request_growth": ("2", 2.0),
        "name": ("cyber", "cyber"),
        "python": ("/opt/python3.9", "/opt/python3.9"),
        "node_cache": ("off", "off"),
        "private": ("node", "node"),
        "copy_below": ("1MiB", 1 << 20),
        "check": ("off", "off"),
        "counters": ("off", "off"),
        "darshan": ("auto", "auto"),
        "speeds": ("speeds.yml", Path("/home/me/speeds.yml")),
        "history": (
            "pfs, bb=/runs/b",
            (EarlierRun(Path("/home/me/pfs"), ""), EarlierRun(Path("/runs/b"), "bb")),
        ),
        "fallback": ("pfs", "pfs"),
        "guard": ("digest", "digest"),
        "drain": ("32MiB/s", DrainRule(PACED, 32 << 20)),
        "drain_slack": ("5", 5),
        "evacuate_within": ("2m", 120),
        "evacuate_every": ("0", 0),
        "keep_failed": ("on", "on"),
    }
    found = read(**{key.replace("_", "."): text for key, (text, _) in said.items()})
    assert vars(found) == {key: value for key, (_, value) in said.items()}


@pytest.mark.parametrize(
    ("key", "value", "what"),
    [
        ("capacity", "0", "above zero"),
        ("wait", "soon", "not a duration"),
        ("headroom", "-5", "'-5' is not between 0 and 1000"),
        ("headroom", "1.5", "not a whole number"),
        ("name", "1st", "begins with a letter"),
        ("name", "x" * 21, "at most 20"),
        ("name", "ümlaut", "letters and digits"),
        ("python", "/usr/bin/python\n3", "control character"),
        ("mode", "persistant", "hybrid, auto; did you mean persistent[?]"),
        ("guard", "none", "not one of stat, digest"),
        ("modes", "off", "did you mean pegasus.bb.mode?"),
        ("zzz", "off", "one of pegasus.bb.capacity"),
    ],
)
def test_a_mistake_names_property_and_value(key: str, value: str, what: str) -> None:
    with pytest.raises(CatalogError, match=what) as error:
        read(**{key: value})
    assert error.value.key == f"pegasus.bb.{key}"
    assert error.value.found == value
    assert error.value.file == "-D"
