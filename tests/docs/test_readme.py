"""The README's way to one's own workflow works, also if no file has a size."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

from tests.docs.conftest import ROOT, clone, environ
from tests.docs.shell_session import Command, Session

README = (ROOT / "README.md").read_text()
SCREENS = 100  # lines: one and a half of a terminal on a desk


def lines() -> list[str]:
    section = README.partition("\n## Your own workflow\n")[2].partition("\n## ")[0]
    return re.findall(r"^    (pegasus-bb .*?)(?: +#.*)?$", section, re.MULTILINE)


def tier() -> str:
    block = re.search(r"(?s)^```yaml\n(.*?)^```", README, re.MULTILINE)
    assert block is not None
    return block[1]


def test_five_lines_lead_to_a_report(words: Path, tmp_path: Path) -> None:
    folder = tmp_path / "words"
    ignored = shutil.ignore_patterns("submit", "results", "scratch", "fast")
    shutil.copytree(words, folder, ignore=ignored)
    other = r"(?ms)^x-storage-tiers:.*?(?=^\S)"
    sites = re.sub(other, "", (folder / "sites.yml").read_text())
    (folder / "fast").mkdir()
    ours = tier().replace("path: /fast", f"path: {folder}/fast")
    (folder / "sites.yml").write_text(f"{sites}\n{ours}")
    assert "size" not in (folder / "workflow.yml").read_text()
    reader = environ(tmp_path / "home", clone(tmp_path / "repository"))
    reader["PATH"] += f":{tmp_path}/repository/.venv/bin"
    reader |= {name: str(folder / name.lower()) for name in ("SCRATCH", "RESULTS")}
    explain, check, plan, run, report = lines()
    runs = {"off": "reader/pegasus/words/run0001"}
    runs["persistent"] = runs["off"].replace("run0001", "run0002")
    with Session(folder, reader) as session:
        session.do(Command(explain))
        session.do(Command(check))
        for mode, place in runs.items():
            told = ["...", f"  pegasus-bb run {folder}/{place}", "..."]
            session.do(Command(plan.replace("persistent", mode), told))
            session.do(Command(run.replace("SUBMIT_DIR", place)))
        for place in runs.values():
            report = report.replace("SUBMIT_DIR", place, 1)
        session.do(
            Command(report, ["The ... on the burst buffer, ... on the PFS.", "..."])
        )


def test_the_readme_is_one_screen_and_a_half() -> None:
    assert len(README.splitlines()) <= SCREENS
    assert max(map(len, README.splitlines())) < 300  # links of the last table
