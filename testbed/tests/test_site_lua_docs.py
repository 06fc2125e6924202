"""The job scripts of docs/slurm-lua.md run as they stand there."""

from __future__ import annotations

import re
from pathlib import Path
from typing import NamedTuple

import pytest
from pegasus_bb_testbed.home import Home

from testbed.tests.lua_site import ON_LUA, LuaSite
from tests.support.waiting import until

pytestmark = [pytest.mark.site, ON_LUA]
PAGE = Path(__file__).parents[2] / "docs" / "slurm-lua.md"
DATA = "what a program reads\n"
# What stands for each program of the page: it writes what it reads from a folder, to
# its output, a file, or a file in a folder.
STUB = """#!/bin/sh -e
out="${2:-/dev/stdout}"
[ -d "$out" ] && out="$out/result"
cat "$1"/* > "$out"
"""
SMALLER = (
    (r"\b\d+[GT]iB\b", "20MiB"),
    (r"(persist (?:un)?share \w+) \w+", r"\1 other"),
    (r"--nodes=\d+", "--nodes=1"),
)


class Script(NamedTuple):
    """One of the page, and the text above it."""

    title: str
    prose: str
    text: str


def scripts() -> list[Script]:
    found = []
    for section in re.split(r"(?m)^### ", PAGE.read_text()):
        for block in re.finditer(r"(?s)```sh\n(#!/bin/sh\n.*?)```", section):
            if "#BB_LUA" in block[1]:
                title = section.partition("\n")[0]
                found.append(Script(title, section[: block.start()], block[1]))
    return found


class Page(LuaSite):
    """Each script has a /lus of its own."""

    def __init__(self, home: Home) -> None:
        super().__init__(home)
        self.lus = self.work / "lus"
        self.lus.mkdir()
        self.configure({"lustre": {"path": str(self.lus)}})

    def own(self, number: int, text: str) -> str:
        """``text`` with the paths of script ``number``."""
        text = text.replace("lustre://", f"lustre://{number}/")
        return text.replace("/lus/", f"{self.lus}/{number}/")

    def prepare(self, number: int, text: str) -> None:
        """Make the programs and the inputs that the script names."""
        (self.lus / str(number)).mkdir()
        for path in re.findall(r"/lus/\S*/bin/\w+", text):
            self.make(self.own(number, path), STUB)
        for place in re.findall(r"(?m)^#BB_LUA stage_in (\S+)", text):
            if place.startswith(("/lus/", "lustre://")):
                path = place.replace("lustre://", "/lus/")
                is_file = "." in path.rpartition("/")[2]
                path = path if is_file else f"{path}/part"
                self.make(self.own(number, path), DATA)
        for path in self.lus.rglob("*"):
            path.chmod(0o777)

    def make(self, path: str, text: str) -> None:
        Path(path).parent.mkdir(parents=True, exist_ok=True)
        Path(path).write_text(text)

    def begin(self, number: int, script: Script, after: str) -> str:
        """Submit it; behind job ``after`` if its text says so."""
        text = self.own(number, script.text)
        for long, short in SMALLER:
            text = re.sub(long, short, text)
        path = self.work / f"{number}.sh"
        path.write_text(text)
        waits = after and "afterburstbuffer" in script.prose
        options = [f"--dependency=afterburstbuffer:{after}"] if waits else []
        return self.sbatch("wfuser", *options, str(path))

    def results(self, number: int, text: str) -> dict[str, str]:
        """The content of what the script stages out to /lus, by file."""
        found = {}
        for place in re.findall(r"(?m)^#BB_LUA stage_out \S+ (\S+)", text):
            path = Path(self.own(number, place.replace("lustre://", "/lus/")))
            files = path.rglob("*") if path.is_dir() else [path]
            found |= {str(f): f.read_text() for f in files if f.is_file()}
        return found


@pytest.fixture
def page(home: Home) -> Page:
    return Page(home)


def test_every_script_of_the_page_does_what_it_says(page: Page) -> None:
    all_scripts = scripts()
    assert len(all_scripts) >= 4
    numbers: list[str] = []
    for k, script in enumerate(all_scripts):
        page.prepare(k, script.text)
        numbers.append(page.begin(k, script, numbers[-1] if numbers else ""))
    for number in numbers:
        page.completed(number)
    for k, script in enumerate(all_scripts):
        found = page.results(k, script.text)
        assert set(found.values()) == ({DATA} if "stage_out" in script.text else set())
    until(lambda: page.left() == {"buffers": [], "kept": []})
