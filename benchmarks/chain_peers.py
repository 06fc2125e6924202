"""Other engines run the workflows of `make bench-chains`, on the same folder.

They come from the package index into an environment of their own, once. Each has two
slots and runs the same task. Snakemake copies files between its local folder and the
PFS (storage plugin fs); the tasks of Parsl and Dask work in the folder of the PFS.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from benchmarks.chain_shapes import Shape

_PACKAGES = (
    "snakemake>=9",
    "snakemake-storage-plugin-fs",
    "parsl",
    "dask[distributed]",
)
_SNAKEFILE = """\
import json, subprocess
STEPS = json.load(open({steps!r}))
rule all:
    input: {results!r}
for number, step in enumerate(STEPS):
    rule:
        name: f"step{{number}}"
        input: step["inputs"]
        output: [o if o in {results!r} else temp(o) for o in step["outputs"]]
        params: sizes=list(step["outputs"].values()), temporary=step["words"][0]
        run:
            pairs = [w for o, s in zip(output, params.sizes) for w in (o, str(s))]
            words = [params.temporary, str(len(params.sizes)), *pairs, *input]
            subprocess.run([{task!r}, *words], check=True)
"""
_DASK = """\
import json, subprocess
from dask.distributed import Client, LocalCluster
def run(words, *parents):
    subprocess.run(words, check=True, cwd={folder!r})
if __name__ == "__main__":
    more = {{"threads_per_worker": 1, "dashboard_address": None}}
    with LocalCluster(n_workers=2, **more) as cluster, Client(cluster) as client:
        done = {{}}
        for step in json.load(open({steps!r})):
            parents = [done[name] for name in step["parents"]]
            words = [{task!r}, *step["words"]]
            done[step["name"]] = client.submit(run, words, *parents, pure=False)
        client.gather(list(done.values()))
"""
_PARSL = """\
import json, parsl
from parsl.config import Config
from parsl.executors import HighThroughputExecutor
@parsl.python_app
def run(words, folder, inputs=()):  # futures, which are waited for
    import subprocess
    subprocess.run(words, check=True, cwd=folder)
slots = HighThroughputExecutor(max_workers_per_node=2, cores_per_worker=0.5)
with parsl.load(Config(executors=[slots])):
    done = {{}}
    for step in json.load(open({steps!r})):
        words = [{task!r}, *step["words"]]
        parents = [done[name] for name in step["parents"]]
        done[step["name"]] = run(words, {folder!r}, inputs=parents)
    for each in done.values():
        each.result()
"""


def installed(home: Path) -> str:
    """Install them in ``home``, if they are not there; why that failed, or empty."""
    python = home / "bin/python"
    ready = home / "ready"
    if ready.exists():
        return ""
    words = [str(python), "-m", "pip", "install", "--quiet", *_PACKAGES]
    for argv in ([sys.executable, "-m", "venv", str(home)], words):
        done = subprocess.run(argv, capture_output=True, text=True)
        if done.returncode:
            lines = (done.stderr or done.stdout).strip().splitlines()
            return lines[-1] if lines else f"{argv[0]} ended with {done.returncode}"
    ready.touch()
    return ""


def home() -> Path:
    cache = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(cache, "pegasus-bb", "bench-peers")


def _snakemake(place: Mapping[str, Any], results: list[str], here: Path) -> list[str]:
    file = here / "Snakefile"
    file.write_text(_SNAKEFILE.format(results=results, **place))
    stored = ["--default-storage-provider", "fs"]
    stored += ["--default-storage-prefix", place["folder"]]
    stored += ["--local-storage-prefix", str(here / "local")]
    shared = ["persistence", "software-deployment", "sources", "source-cache"]
    words = ["-m", "snakemake", "--quiet", "progress", "--cores", "2", "-s", str(file)]
    return [*words, "-d", str(here), *stored, "--shared-fs-usage", *shared]


def _script(text: str) -> Callable[[Mapping[str, Any], list[str], Path], list[str]]:
    def words(place: Mapping[str, Any], results: list[str], here: Path) -> list[str]:
        (here / "run.py").write_text(text.format(**place))
        return [str(here / "run.py")]

    return words


NEEDS = {"snakemake": "rsync"}  # a program: of its storage plugin
PEERS = {"snakemake": _snakemake, "parsl": _script(_PARSL), "dask": _script(_DASK)}


def command(
    name: str, shape: Shape, task: Path, folder: Path, here: Path
) -> tuple[list[str], dict[str, str]]:
    """What runs ``shape`` by peer ``name``, and its environment: files are in
    ``folder`` of the PFS, what the engine itself writes is ``here``."""
    makers = shape.makers
    steps = [
        {
            "name": step.name,
            "words": step.words,
            "outputs": step.outputs,
            "inputs": step.inputs,
            "parents": sorted({makers[x] for x in step.inputs if x in makers}),
        }
        for step in shape.steps
    ]
    (here / "steps.json").write_text(json.dumps(steps))
    place = {
        "steps": str(here / "steps.json"),
        "task": str(task),
        "folder": str(folder),
    }
    python = home() / "bin/python"
    path = f"{python.parent}:{os.environ['PATH']}"
    words = PEERS[name](place, sorted(shape.results), here)
    return [str(python), *words], {**os.environ, "PATH": path}


def version(name: str) -> str:
    words = f"from importlib.metadata import version; print(version({name!r}))"
    argv = [str(home() / "bin/python"), "-c", words]
    return subprocess.run(argv, capture_output=True, text=True).stdout.strip()
