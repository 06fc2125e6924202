"""The demo, with programs that only pretend."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from pegasus_bb.model.run import Run
from pegasus_bb.report.compare import compare
from pegasus_bb.report.encoding import to_document
from tests.support.shebang import shebang

EXAMPLES = Path(__file__).parent.parent.parent / "examples"
PYTHON = sys.executable

# Stands for pegasus-bb: notes how it was called, and leaves what the real one would.
PEGASUS_BB = """\
{shebang}
import json, os, pathlib, sys
with open({calls!r}, "a") as calls:
    calls.write(json.dumps([os.path.basename(os.getcwd()), *sys.argv[1:]]) + "\\n")
command, rest = sys.argv[1], sys.argv[2:]
if command == {fails!r}:
    sys.exit("the fake says no")
options = dict(zip(rest[::2], rest[1::2]))
if command == "plan":
    results = pathlib.Path(options["--output-dir"])
    results.mkdir()
    (results / "out.txt").write_text("same" if {same} else str(results))
if command == "explain":
    modes = {{"off": (4, 5), "persistent": (2.5, 3)}}
    found = [{{"mode": m, "low": l, "high": h}} for m, (l, h) in modes.items()]
    said = {{"modes": found, "choice": "persistent", "sources": {{}}}}
    print(json.dumps({{"predicted": said}}))
if command == "report":
    pathlib.Path(options["--json"]).write_text({document!r})
"""
# Stands for the Python that runs a generator.
GENERATOR = """\
{shebang}
import pathlib, sys
home = pathlib.Path(sys.argv[sys.argv.index("--output-dir") + 1])
home.mkdir()
(home / "workflow.yml").write_text("twelve bytes")
"""


# The burst buffer is twice as fast; the prediction was a quarter too long.
RUNS = {
    "pfs": Run("demo", tasks=(), makespan=4, span=4),
    "bb": Run("demo", tasks=(), makespan=2, span=2, predicted=2.5),
}


def compared() -> str:
    """The report of the runs, as JSON."""
    return json.dumps(to_document(compare([RUNS["pfs"]], [RUNS["bb"]])))


@pytest.fixture
def demo(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.syspath_prepend(str(EXAMPLES))
    import demo  # isort: skip - not by whether `make demo` has left its folder

    monkeypatch.setattr(demo, "read_run", lambda path: RUNS.get(path.name))
    return demo


@pytest.fixture
def folders(demo: Any) -> Any:
    import demo_folders

    return demo_folders


@pytest.fixture
def play(
    demo: Any, folders: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Callable[..., Any]]:
    """Runs the demo of one example with programs that only pretend."""
    monkeypatch.setenv("COLUMNS", "100")  # whatever the tests are run in
    programs = tmp_path / "bin"
    programs.mkdir()
    calls = tmp_path / "calls.jsonl"

    def install(name: str, text: str) -> None:
        (programs / name).write_text(text)
        (programs / name).chmod(0o755)

    def note(step: str) -> None:
        with calls.open("a") as file:
            file.write(json.dumps(["", step]) + "\n")

    def run(fails: str = "", same: bool = True) -> list[list[str]]:
        values = {
            "shebang": shebang(),
            "calls": str(calls),
            "fails": fails,
            "same": same,
        }
        values["document"] = compared()
        install("pegasus-bb", PEGASUS_BB.format(**values))
        install("python", GENERATOR.format(shebang=shebang()))
        monkeypatch.setattr(sys, "executable", str(programs / "python"))
        monkeypatch.setattr(demo, "write_speeds", lambda *_: None)  # takes some seconds
        monkeypatch.setattr(os, "sync", lambda: note("sync"))  # waits for other tests
        demo.demonstrate(tmp_path / "demo", tmp_path, demo.QUICK, ["cybershake"])
        return [json.loads(line) for line in calls.read_text().splitlines()]

    yield run
    folders.fresh_folder(tmp_path / "demo")  # removes what a failed demo has left


@pytest.fixture(scope="package")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A generated instance of the 1000 Genomes workflow, of 9 jobs."""
    from .genomes import ROWS, generator

    output: Path = tmp_path_factory.mktemp("tiny")
    options = generator.Options(output, 1, 2, ROWS, ("GBR", "EAS"))
    assert generator.generate(options) == output / "workflow.yml"
    return output
