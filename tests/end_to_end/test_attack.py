"""Nothing foreign becomes a line of a DAG, of a submit file or of burst-buffer
directives, nor a word of a shell: it is refused, or carried through as it is."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from pegasus_bb.core.errors import UsageError
from pegasus_bb.planner.builtin.planner import BuiltInPlanner
from pegasus_bb.planner.options import PlanOptions
from pegasus_bb.planner.planning import plan
from tests.support.shebang import shebang
from tests.support.user_site import Site, done_well, expected

ATTACKS = {
    "newline": "a\n#BB destroy_persistent name=other",
    "newline for DAGMan": "a\nJOB evil evil.sub",
    "return": "a\rqueue 100",
    "semicolon": "a;touch PWNED",
    "dollar": "$(touch PWNED)",
    "backquote": "`touch PWNED`",
    "quote": "a' && touch PWNED #",
    "double quote": 'a" && touch PWNED #',
    "per cent": "100%s%n%(name)s",
    "directive": "#BB create_persistent name=other capacity=1TB",
    "way out": "../../../PWNED",
    "NUL": "a\0b",
    "300 bytes": "x" * 300,
    "right to left": "\u202egpj.exe",
}
TIER = {"name": "bb", "backend": "datawarp", "pool": "wlm_pool", "capacity": "16MiB"}
GLITE = {
    "pegasus": {"style": "glite"},
    "condor": {"grid_resource": "batch slurm"},
}
Place = Callable[[Site, str], "dict[str, Any] | None"]


def in_profile(namespace: str, key: str = "", value: str = "1") -> Place:
    """The attack is the value under ``key``, or the key of ``value``."""

    def put(site: Site, text: str) -> None:
        with site.edited("workflow.yml") as data:
            profile = {key: text} if key else {text: value}
            data["jobs"][0]["profiles"] = {namespace: profile}

    return put


def in_tier(key: str) -> Place:
    return lambda site, text: site.declare(**{key: text})


def at(file: str, *keys: str | int, prefix: str = "") -> Place:
    """The attack is the value at ``keys`` of a YAML file."""

    def put(site: Site, text: str) -> None:
        document = value = site.document(file)
        for key in keys[:-1]:
            value = value[key]
        value[keys[-1]] = prefix + text
        site.save(file, document)

    return put


def in_job(*keys: str | int) -> Place:
    return at("workflow.yml", "jobs", 0, *keys)


def in_site(*keys: str) -> Place:
    return at("sites.yml", "sites", 1, "profiles", *keys)


def name_of_program(site: Site, text: str) -> None:
    for file, key in (("workflow.yml", "jobs"), ("transformations.yml",) * 2):
        data = site.document(file)
        data[key.removesuffix(".yml")][0]["name"] = text
        site.save(file, data)


def pattern(site: Site, text: str) -> dict[str, Any]:
    site.save("placement.yml", [{"lfn": text, "tier": "pfs"}])
    return {"bb_options": {"pegasus.bb.placement": "placement.yml"}}


PLACES: dict[str, Place] = {
    "workflow's name": at("workflow.yml", "name"),
    "job's id": in_job("id"),
    "job's name": name_of_program,
    "namespace": in_job("namespace"),
    "version": in_job("version"),
    "input": in_job("uses", 0, "lfn"),
    "output": at("workflow.yml", "jobs", 4, "uses", 1, "lfn"),
    "size": in_job("uses", 1, "size"),
    "stdout": in_job("stdout"),
    "argument": in_job("arguments", 0),
    "variable": in_profile("env", "X"),
    "variable's name": in_profile("env"),
    "condor value": in_profile("condor", "+Mine"),
    "condor key": in_profile("condor"),
    "classad": in_profile("condor", "requirements"),
    "walltime": in_profile("pegasus", "runtime"),
    "queue": in_profile("pegasus", "queue"),
    "words for sbatch": in_profile("pegasus", "glite.arguments"),
    "tier of a job": in_profile("pegasus", "bb.tier"),
    "PRE": in_profile("dagman", "PRE"),
    "POST's words": in_profile("dagman", "POST.ARGUMENTS"),
    "category": in_profile("dagman", "CATEGORY"),
    "retry": in_profile("dagman", "RETRY"),
    "launcher's words": in_site("pegasus", "gridstart.launcher.arguments"),
    "site's words for sbatch": in_site("pegasus", "glite.arguments"),
    "grid resource": in_site("condor", "grid_resource"),
    "pool": in_tier("pool"),
    "access": in_tier("access"),
    "capacity": in_tier("capacity"),
    "tier's name": in_tier("name"),
    "account": in_tier("account"),
    "program": at("transformations.yml", "transformations", 0, "sites", 0, "pfn"),
    "replica": at("replicas.yml", "replicas", 0, "pfns", 0, "pfn", prefix="/data/"),
    "pattern": pattern,
    "reservation's name": lambda _, text: {"bb_options": {"pegasus.bb.name": text}},
    "capacity said": lambda _, text: {"bb_options": {"pegasus.bb.capacity": text}},
    "relative dir": lambda _, text: {"relative_dir": text},
    "submit dir": lambda _, text: {"relative_submit_dir": text},
}


# Places where one line more is what was asked for, and how it begins.
OWN_LINES = {
    "queue": "batch_queue",
    "PRE": "SCRIPT",
    "category": "CATEGORY",
    "condor value": "+mine",
    "classad": "requirements",
}


@pytest.fixture
def slurm(tmp_path: Path) -> Site:
    """A site whose tier and jobs belong to Slurm."""
    site = Site(tmp_path)
    with site.edited("sites.yml") as data:
        data["x-storage-tiers"]["cluster"] = [TIER]
        data["sites"][1]["profiles"] = GLITE
    return site


@pytest.fixture
def attacks(request: pytest.FixtureRequest) -> dict[str, str]:
    """All of them, or every third."""
    every = request.config.getoption("thorough")
    return dict(list(ATTACKS.items())[:: 1 if every else 3])


def planned(site: Site, more: dict[str, Any]) -> Path:
    options: dict[str, Any] = {"relative_submit_dir": "run", "force": True, **more}
    bb_options = {"pegasus.bb.mode": "persistent", **options.pop("bb_options", {})}
    given = PlanOptions(
        workflow=Path("workflow.yml"),
        cwd=site.work,
        bb_options=bb_options,
        sites=("cluster",),
        output_sites=("local",),
        base_dir=site.root / "submit",
        **options,
    )
    return plan(given, BuiltInPlanner(given)).submit_dir


def first_words(submit_dir: Path) -> Counter[str]:
    """How many lines of the DAG and of all submit files begin with which word."""
    files = [*submit_dir.glob("*.dag"), *submit_dir.rglob("*.sub")]
    lines = "\n".join(file.read_text() for file in files).splitlines()
    return Counter(line.split()[0] for line in lines if line.strip())


def directives(submit_dir: Path) -> list[str]:
    """Lines that sbatch would take for directives, in whatever file planning wrote."""
    return [
        line
        for file in submit_dir.rglob("*")
        if file.is_file() and file.suffix != ".zip"
        for line in file.read_text(errors="replace").splitlines()
        if re.match(r"\s*#(BB|DW|SBATCH)", line)
    ]


@pytest.mark.parametrize("place", PLACES)
def test_what_is_foreign_is_refused_or_stays_where_it_was_put(
    slurm: Site, place: str, attacks: dict[str, str]
) -> None:
    plain = first_words(planned(slurm, {}))
    before = {file: file.read_bytes() for file in slurm.work.iterdir()}
    for attack, text in attacks.items():
        for file, content in before.items():
            file.write_bytes(content)
        try:
            submit_dir = planned(slurm, PLACES[place](slurm, text) or {})
        except UsageError as error:
            assert error.exit_code == 2, attack
            continue
        own = text.split()[0] if place == "condor key" else OWN_LINES.get(place, "")
        more = first_words(submit_dir) - plain
        assert set(more) <= {own}, (attack, more)
        assert more.total() <= 1, (attack, more)
        [line] = directives(submit_dir)
        assert re.fullmatch(r"#DW persistentdw name=[a-z][a-z0-9]+", line), attack


# What a legacy code may well call its results; blanks, quotes, $ and the like cannot
# be carried through URLs and submit files, and are refused.
LFNS = ["a;id>PWNED", "a|id", "a&id", "(id)", "\u202egpj.exe", "-rf", "*"]
# Writes down what it was given, and every file that it is told to write.
ECHO = """{shebang}
import json, os, sys
out, *texts = sys.argv[1:]
given = [texts, [os.environ[name] for name in sorted(os.environ) if name[:2] == "X_"]]
for name in [*json.loads(os.environ["LFNS"]), out]:
    open("./" + name, "w").write(json.dumps(given))
"""


def one_word(text: str) -> str:
    """``text`` as Pegasus gives it to a task in one piece."""
    return '"' + text.replace('"', '"\\""') + '"'


def test_what_is_carried_through_is_unchanged_and_reaches_no_shell(site: Site) -> None:
    texts = [text for text in ATTACKS.values() if not re.search(r"[\n\r\0]", text)]
    program = site.root / "echo.py"
    program.write_text(ECHO.format(shebang=shebang()))
    program.chmod(0o755)
    with site.edited("transformations.yml") as catalog:
        entry = {"name": "cluster", "pfn": str(program), "type": "installed"}
        catalog["transformations"].append({"name": "echo", "sites": [entry]})
    use = {"type": "output", "registerReplica": False, "metadata": {"size": 9000}}
    env = {f"X_{n:02d}": text for n, text in enumerate(texts)}
    with site.edited("workflow.yml") as data:
        data["jobs"].append(
            {
                "type": "job",
                "name": "echo",
                "id": "F",
                "arguments": ["out.json", *map(one_word, texts)],
                "uses": [{**use, "lfn": lfn} for lfn in [*LFNS, "out.json"]],
                "profiles": {"env": {**env, "LFNS": json.dumps(LFNS)}},
            }
        )
    site.planned("bb", "--bb-mode", "persistent")
    done = site.run("bb")
    assert done_well(done)
    found = site.content("bb")
    assert set(found) == {*LFNS, "out.json", *expected()}
    assert json.loads(found["out.json"]) == [texts, texts]
    assert all(found[lfn] == found["out.json"] for lfn in LFNS)
    assert not list(site.root.rglob("PWNED*"))
    assert site.reservations() == []
