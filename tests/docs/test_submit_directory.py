"""The page of a submit directory lists what planning and a run really write there."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from pegasus_bb import plan
from tests.decide.conftest import user
from tests.support.user_files import User, job, sized, use

__all__ = ["user"]
ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs/reference/submit-directory.md"
HEADS = ("Written by every planning", "Written by some plannings", "Written by a run")
EVERY, SOME, RUN = HEADS
_WORDS = {"n": "[0-9]+", "file": ".+", "module": ".+", "label": "[a-z]+"}


def listed(head: str) -> list[str]:
    section = PAGE.read_text().partition(f"\n## {head}\n")[2].partition("\n## ")[0]
    return re.findall(r"^\| `([^`]+)` \|", section, re.MULTILINE)


def pattern(name: str) -> re.Pattern[str]:
    """``<node>`` is any name, ``{a,b}`` one of these."""
    text = re.escape(name).replace(r"\{", "(").replace(r"\}", ")").replace(",", "|")
    return re.compile(
        re.sub(r"<(\w+)>", lambda found: _WORDS.get(found[1], "[^/]+"), text)
    )


def files(folder: Path) -> set[str]:
    found = (p for p in folder.rglob("*") if p.is_file())
    return {str(p.relative_to(folder)) for p in found}


def unlisted(found: set[str], *heads: str) -> set[str]:
    known = [pattern(name) for head in heads for name in listed(head)]
    return {file for file in found if not any(k.fullmatch(file) for k in known)}


def unmatched(found: set[str], head: str) -> set[str]:
    return {
        name
        for name in listed(head)
        if not any(pattern(name).fullmatch(file) for file in found)
    }


def test_a_run_leaves_what_is_listed(words: Path) -> None:
    found = files(words / "submit/first")
    assert unlisted(found, *HEADS) == set()
    assert unmatched(found, EVERY) == set()


def plannings(user: User) -> Iterator[dict[str, Any]]:
    """Keywords of plannings that among them need all that a planning can write."""
    yield {"bb_mode": "off"}
    yield {"bb_mode": "persistent", "bb_capacity": "12MiB"}  # less than all files
    yield {"bb_mode": "transient"}
    yield {"bb_mode": "hybrid"}
    user.tier = {"drain": {"target": str(user.folder), "limit": "1GB/s"}}
    user.read()
    yield {"bb_mode": "persistent", "bb_drain": "1MiB/s"}


def test_plannings_write_what_is_listed(
    user: User, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(user.folder)
    monkeypatch.setenv("HOME", str(user.folder))
    chain = [f"f{n}" for n in range(5)]
    user.jobs = [
        job(
            f"ID{n}",
            use(lfn, "input"),
            use(chain[n + 1], "output", stageOut=n == 3, **sized(4 << 20)),
        )
        for n, lfn in enumerate(chain[:-1])
    ]
    (user.folder / "f0").write_text("")
    user.replicas = {"f0": [{"site": "local", "pfn": str(user.folder / "f0")}]}
    sites = [{"name": "cluster", "type": "installed", "pfn": "/bin/true"}]
    user.transformations = [{"name": "work", "sites": sites}]
    user.read()
    together: set[str] = set()
    for number, keywords in enumerate(plannings(user)):
        planned = plan(
            **keywords,
            output_sites="local",
            output_dir=tmp_path / "out",
            dir=tmp_path,
            relative_submit_dir=f"s{number}",
        )
        found = files(planned.submit_dir)
        assert unlisted(found, EVERY, SOME) == set(), keywords
        assert unmatched(found, EVERY) == set(), keywords
        together |= found
    elsewhere = {"containers.json", "darshan.conf", "darshan.json", "planned/<file>"}
    elsewhere |= {"sub/<node>.json", "planned/inner<n>/<file>"}
    assert unmatched(together, SOME) == {f"bb/{name}" for name in elsewhere}
