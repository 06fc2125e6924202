"""Imports go one way; what runs on compute nodes imports almost nothing."""

from __future__ import annotations

import ast
import subprocess
import sys
from functools import cache
from graphlib import TopologicalSorter
from pathlib import Path

from pegasus_bb.cli import COMMANDS

PACKAGE = Path(__file__).parent.parent / "pegasus_bb"

# room -> what it may import beside itself
MAY_IMPORT = {
    "core": set(),
    "model": {"core"},
    "decide": {"core", "model"},
    "runtime": {"core", "model"},
    "report": {"core", "model"},
    "forecast": {"core", "model", "runtime"},
    "planner": {"core", "model", "decide", "runtime", "report", "forecast"},
    "stager": {"core", "model", "runtime"},
    "run": {"core", "model", "decide", "runtime", "report", "planner", "stager"},
    "api": {"core", "model", "decide", "report", "forecast", "planner"},
}
MAY_IMPORT["cli"] = {*MAY_IMPORT, "api"}
# Files that travel to compute nodes: the standard library, and these only.
TRAVELS = [f"core/{name}.py" for name in ("errors", "units", "process", "files")]
TRAVELS += [
    f"core/{name}.py" for name in ("ledger", "light_typing", "paths", "refusals")
]
TRAVELS += ["core/removal.py"]
TRAVELS_TOO = ["model/backends.py", "model/reservation.py"]
TRAVELS_TOO += ["runtime/**/*.py", "stager/**/*.py"]


def modules() -> list[Path]:
    return sorted(p for p in PACKAGE.rglob("*.py") if p.name != "__main__.py")


def travelling() -> list[Path]:
    found = [PACKAGE / name for name in TRAVELS if (PACKAGE / name).exists()]
    for pattern in TRAVELS_TOO:
        found.extend(PACKAGE.glob(pattern))
    return sorted(p for p in found if p != PACKAGE / "runtime/install.py")


@cache
def statements(path: Path) -> list[ast.Import | ast.ImportFrom]:
    tree = ast.walk(ast.parse(path.read_text()))
    return [each for each in tree if isinstance(each, ast.Import | ast.ImportFrom)]


def imports(path: Path) -> set[str]:
    found: set[str] = set()
    for node in statements(path):
        if isinstance(node, ast.Import):
            found.update(alias.name for alias in node.names)
        else:
            assert node.level == 0, f"{path}: imports are absolute here"
            module = node.module or ""
            if (PACKAGE.parent / module.replace(".", "/")).is_dir():
                found.update(f"{module}.{alias.name}" for alias in node.names)
            else:
                found.add(module)
    return found


def names_in(path: Path) -> set[str]:
    """What it may import, where `from package import file` means the file."""
    found = imports(path)
    for node in statements(path):
        if isinstance(node, ast.ImportFrom):
            found.update(f"{node.module}.{alias.name}" for alias in node.names)
    return found


def dotted(path: Path) -> str:
    return ".".join(path.relative_to(PACKAGE.parent).with_suffix("").parts)


def room(path: Path) -> str:
    return path.relative_to(PACKAGE).with_suffix("").parts[0]


def test_a_room_imports_only_rooms_below_it() -> None:
    above = {}
    for path in modules():
        ours = {
            name.split(".")[1]
            for name in imports(path)
            if name.count(".") >= 1 and name.startswith("pegasus_bb.")
        }
        if room(path) != "__init__":
            above[path] = ours - MAY_IMPORT[room(path)] - {room(path)}
    assert len(above) > 100
    assert not {path: names for path, names in above.items() if names}


def test_what_travels_needs_nothing_that_stays_behind() -> None:
    files = travelling()
    assert len(files) > 100
    with_it = {str(path.relative_to(PACKAGE)) for path in files}

    def comes_along(name: str) -> bool:
        if not name.startswith("pegasus_bb."):
            first = name.split(".")[0]
            return name == "pegasus_bb" or first in sys.stdlib_module_names
        file = "/".join(name.split(".")[1:])
        return f"{file}.py" in with_it or (PACKAGE / file).is_dir()

    missed = {path: {n for n in imports(path) if not comes_along(n)} for path in files}
    assert not {path: names for path, names in missed.items() if names}


def test_no_file_is_imported_by_what_it_imports() -> None:
    """Those that wait until they are called count as well."""
    files = {dotted(path): path for path in modules()}
    graph = {name: names_in(path) & files.keys() for name, path in files.items()}
    TopologicalSorter(graph).prepare()  # CycleError names the circle


def test_only_process_py_starts_programs() -> None:
    starters = {p for p in modules() if "subprocess" in imports(p)}
    assert starters == {PACKAGE / "core/process.py"}


def test_rewriting_reads_no_clock_and_starts_nothing() -> None:
    forbidden = {"time", "datetime", "random", "uuid", "os", "pegasus_bb.core.process"}
    used = {
        p: imports(p) & forbidden for p in (PACKAGE / "planner/rewrite").glob("*.py")
    }
    assert used
    assert not {path: names for path, names in used.items() if names}


def test_planning_imports_only_what_every_planning_needs() -> None:
    """Beside a pegasus-plan of some seconds a tenth of a second counts."""
    story = (
        "import sys, pegasus_bb.cli.plan, pegasus_bb.cli.plan_real; print(*sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", story], capture_output=True, text=True)
    heavy = {"yaml", "jinja2", "rich", "ctypes", "htcondor2"}
    assert not heavy & set(done.stdout.split()), done.stderr
    assert "pegasus_bb.cli.plan_real" in done.stdout


MODULES = 90  # of ours that a planning of mode persistent may load

WORKFLOW = """\
pegasus: "5.0"
name: five
jobs:
- {type: job, name: work, id: J1, arguments: [], uses: [{lfn: f1, type: output}]}
- {type: job, name: work, id: J2, arguments: [], uses: [{lfn: f1, type: input}]}
- {type: job, name: work, id: J3, arguments: [], uses: [{lfn: f1, type: input}]}
- {type: job, name: work, id: J4, arguments: [], uses: [{lfn: f1, type: input}]}
- {type: job, name: work, id: J5, arguments: [], uses: [{lfn: f1, type: input}]}
"""
TASK = """\
pegasus: "5.0"
name: one
jobs: [{type: job, name: work, id: J1, arguments: [], uses: []}]
"""
SITES = """\
pegasus: "5.0"
sites:
- {name: local, directories: [{type: localStorage, path: OUT, fileServers: [FILES]}]}
- {name: cluster, directories: [{type: sharedScratch, path: OUT, fileServers: [FILES]}]}
x-storage-tiers:
  cluster: [{name: bb, backend: directory, path: OUT/bb, capacity: 8MiB}]
"""
PROGRAMS = """\
pegasus: "5.0"
transformations:
- {name: work, sites: [{name: cluster, pfn: /bin/true, type: installed}]}
"""


def loaded_by(folder: Path, *words: str) -> set[str]:
    """The modules that a command has loaded when it ends."""
    story = (
        "import sys; from pegasus_bb.cli import cli; cli(sys.argv[1:], "
        "standalone_mode=False); print('loaded', *sys.modules, file=sys.stderr)"
    )
    argv = [sys.executable, "-c", story, *words]
    done = subprocess.run(argv, capture_output=True, text=True, cwd=folder)
    assert done.returncode == 0, done.stderr
    return set(done.stderr.splitlines()[-1].split())


def loaded_by_plan(folder: Path, workflow: str = WORKFLOW) -> set[str]:
    server = f'{{url: "file://{folder}", operation: all}}'
    sites = SITES.replace("FILES", server).replace("OUT", str(folder))
    (folder / "workflow.yml").write_text(workflow)
    (folder / "sites.yml").write_text(sites)
    (folder / "transformations.yml").write_text(PROGRAMS)
    (folder / "replicas.yml").write_text('pegasus: "5.0"\nreplicas: []\n')
    words = ["--bb-planner", "builtin", "--bb-mode", "persistent", "--quiet"]
    words += ["--output-sites", "local", "--dir", "submit"]
    return loaded_by(folder, "plan", *words)


def test_planning_loads_only_the_modules_that_it_needs(tmp_path: Path) -> None:
    """Without declared speeds it forecasts nothing; it never reads a submit file."""
    loaded = loaded_by_plan(tmp_path)
    ours = sorted(name for name in loaded if name.startswith("pegasus_bb"))
    assert not [name for name in ours if name.startswith("pegasus_bb.forecast")]
    assert not loaded & {"htcondor2", "yaml"}
    assert len(ours) <= MODULES, " ".join(ours)


def test_the_embedded_engine_loads_no_catalogs_and_no_dagman() -> None:
    story = "import sys, pegasus_bb.cli.run, pegasus_bb.run.engine.local; "
    story += "print(*sys.modules)"
    argv = [sys.executable, "-c", story]
    done = subprocess.run(argv, capture_output=True, text=True, check=True)
    loaded = set(done.stdout.split())
    assert not loaded & {"javaproperties", "yaml", "ssl", "xml.sax", "rich"}
    engine, planner = "pegasus_bb.run.engine", "pegasus_bb.planner"
    assert not loaded & {f"{engine}.dagman.running", f"{engine}.failure_messages"}
    assert not loaded & {f"{planner}.run_plan", "pegasus_bb.model.catalogs"}


def test_a_run_that_ends_well_loads_nothing_that_tells_of_failures(
    tmp_path: Path,
) -> None:
    loaded_by_plan(tmp_path, TASK)
    (dag,) = (tmp_path / "submit").rglob("*.dag")
    loaded = loaded_by(tmp_path, "run", str(dag.parent), "--engine", "local")
    engine, planner = "pegasus_bb.run.engine", "pegasus_bb.planner"
    assert f"{engine}.scheduler" in loaded
    assert not loaded & {f"{engine}.failure_messages", f"{engine}.causes", "yaml"}
    assert not loaded & {"pegasus_bb.model.run", "pegasus_bb.report.run_notes"}
    assert not loaded & {f"{planner}.run_plan", "pegasus_bb.model.catalogs"}
    assert not any(name.startswith("pegasus_bb.decide") for name in loaded)


def test_help_loads_no_command() -> None:
    story = "import sys; from pegasus_bb.cli import cli; cli(['--help'], "
    story += "standalone_mode=False); print(*sys.modules, file=sys.stderr)"
    argv = [sys.executable, "-c", story]
    done = subprocess.run(argv, capture_output=True, text=True)
    assert "Run a planned workflow, or continue it." in done.stdout
    assert not set(COMMANDS.values()) & set(done.stderr.split())
