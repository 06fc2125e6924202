"""A small site on this machine, and the commands that a user types."""

from __future__ import annotations

import hashlib
import json
import os
import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from tests.support import forked
from tests.support.shebang import shebang
from tests.support.trees import contents
from tests.support.waiting import until

# The legacy task: reads every input, writes every output, knows nothing else.
MIX = """{shebang}
import hashlib, os, sys, time
out, *inputs = sys.argv[1:]
trouble = os.environ.get("TROUBLE", "")
time.sleep(0.02)
data = b"".join(open(name, "rb").read() for name in inputs)
if trouble and os.path.exists(trouble) and out == open(trouble).read().strip():
    open(out, "wb").write(b"half a res")
    sys.exit("mix: the disk on my desk is full")
with open(out, "wb") as result:
    result.write(hashlib.sha256(data).hexdigest().encode() + b"\\n" + data)
"""

# job id -> (output, inputs); a diamond with a tail, two results
JOBS = {
    "A": ("a.dat", ["in.txt"]),
    "B": ("b.dat", ["a.dat"]),
    "C": ("sub/c.dat", ["a.dat", "other-in.txt"]),
    "D": ("d.dat", ["b.dat", "sub/c.dat"]),
    "E": ("e.dat", ["d.dat"]),
}
RESULTS = ("d.dat", "e.dat")
INPUTS = {"in.txt": b"ACGT" * 1000, "other-in.txt": b"TGCA" * 10}


def load_yaml(text: str) -> Any:
    return yaml.load(text, yaml.CSafeLoader)


def computed(jobs: int = len(JOBS)) -> dict[str, bytes]:
    """What the first ``jobs`` tasks read and write, computed here."""
    files = dict(INPUTS)
    for output, inputs in list(JOBS.values())[:jobs]:
        data = b"".join(files[name] for name in inputs)
        files[output] = hashlib.sha256(data).hexdigest().encode() + b"\n" + data
    return files


def expected() -> dict[str, bytes]:
    """The results of any run that went well."""
    files = computed()
    return {name: files[name] for name in RESULTS}


@dataclass
class Site:
    """A folder with catalogs, and what a user can do there."""

    root: Path
    environment: dict[str, str] = field(default_factory=dict)
    tier: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.work.mkdir()
        (self.root / "inputs").mkdir()
        for name, content in INPUTS.items():
            (self.root / "inputs" / name).write_bytes(content)
        self.write_task()
        self.write()

    @property
    def work(self) -> Path:
        """Where the user stands: workflow and catalogs are here."""
        return self.root / "work"

    @property
    def tier_path(self) -> Path:
        return self.root / "fast"

    @property
    def trouble(self) -> Path:
        """While this file names an output, the task that makes it fails halfway."""
        return self.root / "trouble"

    def results(self, run: str) -> Path:
        return self.root / f"results-{run}"

    def submit_dir(self, run: str) -> Path:
        return self.root / "submit" / run

    def write_task(self) -> None:
        task = self.root / "mix.py"
        task.write_text(MIX.format(shebang=shebang("-IS")))
        task.chmod(0o755)

    def document(self, name: str) -> Any:
        return load_yaml((self.work / name).read_text())

    @contextmanager
    def edited(self, name: str) -> Iterator[Any]:
        """The data of a YAML file, written when the block ends."""
        data = self.document(name)
        yield data
        self.save(name, data)

    def save(self, name: str, data: Any) -> None:
        text = yaml.dump(data, Dumper=yaml.CSafeDumper, sort_keys=False)
        (self.work / name).write_text(text)

    def write(self) -> None:
        """Workflow and catalogs as they are to begin with."""
        self.save("workflow.yml", _workflow())
        self.save("sites.yml", self._sites())
        self.save("replicas.yml", self._replicas())
        self.save("transformations.yml", self._transformations())

    def declare(self, **tier: Any) -> None:
        """Change the tier's declaration."""
        with self.edited("sites.yml") as sites:
            sites["x-storage-tiers"]["cluster"][0].update(tier)

    def has_disks(self, **keys: Any) -> Path:
        """Every node has a disk as the only tier: the only node is this machine."""
        folder = self.root / "nvme"
        folder.mkdir(exist_ok=True)
        tier = {"name": "nvme", "backend": "node-local", "path": str(folder)}
        with self.edited("sites.yml") as sites:
            sites["x-storage-tiers"]["cluster"] = [{**tier, **keys}]
        return folder

    def configure(self, data: str) -> None:
        """Give the site another data configuration."""
        with self.edited("sites.yml") as sites:
            sites["sites"][1]["profiles"]["pegasus"]["data.configuration"] = data

    def bb(
        self, *arguments: str, check: bool = False
    ) -> subprocess.CompletedProcess[str]:
        """Type ``pegasus-bb ARGUMENTS`` in the work folder."""
        done = forked.pegasus_bb(_builtin(arguments), self.work, self.environ())
        if check:
            assert done.returncode == 0, done.stdout + done.stderr
        return done

    def start_run(self, run: str, *more: str) -> forked.ServedProcess:
        """``pegasus-bb run`` in the background."""
        words = ["run", *more, str(self.submit_dir(run))]
        errors = self.root / f"{run}.err"
        return forked.start_pegasus_bb(words, self.work, self.environ(), errors)

    def environ(self) -> dict[str, str]:
        own = {"PEGASUS_BB_LEDGER": str(self.root / "ledger.jsonl")}
        return {**os.environ, **own, **self.environment}

    def slow(self, seconds: int, result: str = "") -> Path:
        """All tasks take so long, or the one that makes ``result``: a file that is
        there when the first of them has begun."""
        task = self.root / "mix.py"
        begun = self.root / "a-slow-task-has-begun"
        wait = f"open({str(begun)!r}, 'w').close(); time.sleep({seconds})"
        slow = f"if {result!r} in ('', out): {wait}"
        task.write_text(task.read_text().replace("time.sleep(0.02)", slow))
        return begun

    def plan(self, run: str, *more: str) -> subprocess.CompletedProcess[str]:
        return self.bb(
            "plan",
            "--sites",
            "cluster",
            "--output-sites",
            "local",
            "--output-dir",
            str(self.results(run)),
            "--dir",
            str(self.root / "submit"),
            "--relative-submit-dir",
            run,
            *more,
            "workflow.yml",
        )

    def planned(self, run: str, *more: str) -> Path:
        done = self.plan(run, *more)
        assert done.returncode == 0, done.stdout + done.stderr
        return self.submit_dir(run)

    def run(self, run: str) -> subprocess.CompletedProcess[str]:
        return self.bb("run", str(self.submit_dir(run)))

    def finishes(
        self, run: str, results: dict[str, bytes] | None = None
    ) -> subprocess.CompletedProcess[str]:
        """Run it to its good end."""
        done = self.run(run)
        assert done_well(done)
        self.has_all_results(run, results)
        return done

    def has_all_results(
        self, run: str, results: dict[str, bytes] | None = None
    ) -> None:
        """All are right, and no reservation stands."""
        assert self.content(run) == (results or expected())
        assert self.reservations() == []

    def fails(self, run: str) -> str:
        """Run it; what it says at its failure."""
        done = self.run(run)
        assert done.returncode == 80, done.stdout + done.stderr
        return done.stderr

    def refuses(self, run: str, *more: str) -> str:
        """What planning says that refuses it, and has left nothing."""
        done = self.plan(run, *more)
        assert done.returncode == 2, done.stdout + done.stderr
        assert "Traceback" not in done.stderr
        assert not self.submit_dir(run).exists()
        return done.stderr

    def content(self, run: str) -> dict[str, bytes]:
        return contents(self.results(run))

    def records(self, run: str) -> dict[str, Any]:
        """The last Kickstart record of each node that has ended."""
        found = {}
        for path in sorted(self.submit_dir(run).glob("*/*/*.out.*")):
            text = path.read_text()
            if not text:  # of a job that Slurm or blahp has lost: it is tried again
                continue
            (record,) = load_yaml(text)
            found[path.name.split(".out.")[0]] = record
        return found

    def tasks(self, run: str) -> dict[str, Any]:
        """The record of each job of the workflow, by the job's id."""
        found = self.records(run).items()
        return {node[4:]: record for node, record in found if node.startswith("mix_")}

    def ledger(self) -> list[dict[str, Any]]:
        file = self.root / "ledger.jsonl"
        lines = file.read_text().splitlines() if file.exists() else []
        return [json.loads(line) for line in lines]

    def request(self, run: str) -> dict[str, Any]:
        """What the run asks for, for the whole workflow."""
        return dict(json.loads((self.submit_dir(run) / "bb/request.json").read_text()))

    def reservations(self) -> list[str]:
        """Folders of reservations that stand on the tier now."""
        if not self.tier_path.exists():
            return []
        return sorted(p.name for p in self.tier_path.iterdir() if p.is_dir())

    def plan_file(self, run: str) -> Any:
        return json.loads((self.submit_dir(run) / "bb" / "plan.json").read_text())

    def edit_dag(self, run: str, text: str) -> None:
        """``text`` is the DAG file from now on, and planning has noted no other."""
        folder = self.submit_dir(run)
        plan = self.plan_file(run)
        del plan["dag_size"]
        (folder / "bb" / "plan.json").write_text(json.dumps(plan))
        (folder / plan["dag"]).write_text(text)

    def _sites(self) -> dict[str, Any]:
        def directory(kind: str, path: Path) -> dict[str, Any]:
            server = {"url": f"file://{path}", "operation": "all"}
            return {"type": kind, "path": str(path), "fileServers": [server]}

        tier = {
            "name": "bb",
            "backend": "directory",
            "path": str(self.tier_path),
            "quota": "64MiB",
            "granularity": "1MiB",
            "capacity": "auto",
        }
        return {
            "pegasus": "5.0",
            "x-storage-tiers": {"cluster": [{**tier, **self.tier}]},
            "sites": [
                {
                    "name": "local",
                    "directories": [
                        directory("sharedScratch", self.root / "local-scratch"),
                        directory("localStorage", self.root / "storage"),
                    ],
                },
                {
                    "name": "cluster",
                    "directories": [directory("sharedScratch", self.root / "pfs")],
                    "profiles": {
                        "pegasus": {"style": "condor", "data.configuration": "sharedfs"}
                    },
                },
            ],
        }

    def _replicas(self) -> dict[str, Any]:
        folder = self.root / "inputs"
        entries = [
            {"lfn": p.name, "pfns": [{"site": "cluster", "pfn": str(p)}]}
            for p in sorted(folder.iterdir())
        ]
        return {"pegasus": "5.0", "replicas": entries}

    def _transformations(self) -> dict[str, Any]:
        site = {
            "name": "cluster",
            "pfn": str(self.root / "mix.py"),
            "type": "installed",
            "profiles": {"env": {"TROUBLE": str(self.trouble)}},
        }
        entry = {"name": "mix", "sites": [site]}
        return {"pegasus": "5.0", "transformations": [entry]}


def _workflow() -> dict[str, Any]:
    def use(lfn: str, kind: str) -> dict[str, Any]:
        entry: dict[str, Any] = {"lfn": lfn, "type": kind}
        if kind == "output":
            entry["metadata"] = {"size": 64_000}
            entry.update(stageOut=lfn in RESULTS, registerReplica=False)
        return entry

    jobs = [
        {
            "type": "job",
            "name": "mix",
            "id": ident,
            "arguments": [output, *inputs],
            "uses": [*(use(i, "input") for i in inputs), use(output, "output")],
        }
        for ident, (output, inputs) in JOBS.items()
    ]
    return {"pegasus": "5.0.4", "name": "diamond", "jobs": jobs}


def wait_for_event(log: Path, node: str, event: str, process: Any) -> bool:
    """Whether ``node`` came to ``event`` in the journal before the process ended."""
    words = f" {node} {event} "
    deadline = time.monotonic() + 120
    while time.monotonic() < deadline:
        if log.exists() and words in log.read_text():
            return True
        if process.poll() is not None:
            return False
        time.sleep(0.002)
    raise AssertionError(f"{node} never came to {event}")


def done_well(done: subprocess.CompletedProcess[str]) -> bool:
    assert done.returncode == 0, done.stdout + done.stderr
    return True


def killed_when(site: Site, run: str, node: str, begun: Path | None = None) -> None:
    """Kill the engine of ``run`` once ``node`` runs, and its task has ``begun``."""
    engine = site.start_run(run)
    log = site.submit_dir(run) / "jobstate.log"
    assert wait_for_event(log, node, "EXECUTE", engine)
    if begun:
        until(begun.exists)
    kill(engine)


def kill(process: forked.ServedProcess) -> None:
    process.send_signal(signal.SIGKILL)
    process.wait()


def _builtin(arguments: tuple[str, ...]) -> list[str]:
    """These tests are about the built-in planner, also where there is a Pegasus."""
    more = ["--bb-planner", "builtin"] if arguments[:1] == ("plan",) else []
    return [*arguments[:1], *more, *arguments[1:]]
