"""Whatever a task does to its files, as old codes do: each way to run it gives the same
results, and leaves the user's own files alone."""

from __future__ import annotations

import json
from typing import Any, NamedTuple

import pytest

from tests.support.shebang import shebang
from tests.support.trees import contents
from tests.support.user_site import Site

from .test_every_mode import SWEEP, WAYS, Way


class Act(NamedTuple):
    """What a task does; @ begins the names of its own files, and its input is @in."""

    does: str
    makes: str  # what a later job finds: path, =, text

    def files(self, name: str) -> dict[str, str]:
        pairs = (word.split("=") for word in self.makes.split())
        return {f"{name}.{path}": text for path, text in pairs}

    def outputs(self, name: str) -> list[str]:
        """The LFNs: a folder is one."""
        return list(dict.fromkeys(path.split("/")[0] for path in self.files(name)))


ACTS = {
    "renames": Act("echo new > tmp; mv tmp @a", "a=new"),
    "appends": Act("echo 1 > @a; echo 2 > @b; echo 3 >> @a", "a=13 b=2"),
    "moves": Act("mv @in @a", "a=input"),
    "copies": Act("cp -a @in @a; rm @in", "a=input"),
    "hard": Act("echo 1 > @a; ln @a @b", "a=1 b=1"),
    "links": Act("echo 1 > @a; ln -s @a @b; ln -s $PWD/@b @c", "a=1 b=1 c=1"),
    "own": Act("echo 1 > real; ln -sf real @a", "a=1"),
    "folder": Act(
        "echo 1 > @f; mkdir @d; ln -s $PWD/@f @d/far; ln -s ../@f @d/near",
        "f=1 d/far=1 d/near=1",
    ),
    "reads": Act(
        "mkdir @d; ln -s $PWD/@in @d/far; ln -s ../@in @d/near",
        "d/far=input d/near=input",
    ),
    "across": Act("mkdir @d @e; echo 1 > @e/f; ln -s ../@e/f @d/f", "d/f=1 e/f=1"),
    "closed": Act("mkdir @d; echo 1 > @d/f; chmod 444 @d/f; chmod 555 @d", "d/f=1"),
    "round": Act("mkdir @d; echo 1 > @d/f; ln -s . @d/me", "d/f=1"),
    "tidies": Act("cat @in/a > @a; echo 1 > @in/index; rm -r @in/sub", "a=input"),
}
LOOK = """{shebang}
import json, os, sys
name, *outputs = sys.argv[1:]
found = {{}}
for output in outputs:
    for folder, _, files in os.walk(output):
        for file in files:
            path = os.path.join(folder, file)
            found[path] = open(path).read().replace("\\n", "")
    if os.path.isfile(output):
        found[output] = open(output).read().replace("\\n", "")
json.dump(found, open(name + ".seen", "w"), sort_keys=True)
"""


def expected() -> dict[str, bytes]:
    return {
        f"{name}.seen": json.dumps(act.files(name), sort_keys=True).encode()
        for name, act in ACTS.items()
    }


def write(site: Site) -> None:
    """A job for each act, and one that looks at what it has made."""
    jobs = []
    for name, act in ACTS.items():
        given = site.root / "inputs" / f"{name}.in"
        if name == "tidies":
            (given / "sub").mkdir(parents=True)
            (given / "sub/b").write_text("input")
            given /= "a"
        given.write_text("input")
        outputs = act.outputs(name)
        jobs.append(job("act", name, [f"{name}.in"], outputs, staged=False))
        jobs.append(job("look", name, outputs, [f"{name}.seen"], staged=True))
    site.write()
    site.save("workflow.yml", {"pegasus": "5.0", "name": "acts", "jobs": jobs})
    cases = [f"{n}) {a.does.replace('@', f'{n}.')};;" for n, a in ACTS.items()]
    act = "#!/bin/sh -e\ncase $1 in\n" + "\n".join(cases) + "\nesac\n"
    look = LOOK.format(shebang=shebang("-IS"))
    programs = [program(site, "act", act), program(site, "look", look)]
    site.save("transformations.yml", {"pegasus": "5.0", "transformations": programs})


def program(site: Site, name: str, text: str) -> dict[str, Any]:
    path = site.root / name
    path.write_text(text)
    path.chmod(0o755)
    where = {"name": "cluster", "pfn": str(path), "type": "installed"}
    return {"name": name, "sites": [where]}


def job(
    kind: str, name: str, reads: list[str], makes: list[str], *, staged: bool
) -> dict[str, Any]:
    size = {"metadata": {"size": 4096}}
    out = {"type": "output", "stageOut": staged, "registerReplica": False, **size}
    uses = [{"lfn": lfn, "type": "input", **size} for lfn in reads]
    uses += [{"lfn": lfn, **out} for lfn in makes]
    what = {"type": "job", "name": kind, "id": f"{kind}-{name}"}
    return {**what, "arguments": [name, *reads], "uses": uses}


def runs_well(site: Site, way: Way, *more: str) -> None:
    before = contents(site.root / "inputs")
    way.planned(site, *more)
    site.finishes("bb", expected())
    assert contents(site.root / "inputs") == before


@pytest.mark.parametrize("way", WAYS, ids=str)
def test_each_way_gives_the_same_results(site: Site, way: Way) -> None:
    write(site)
    runs_well(site, way, "--cleanup", "leaf", "--bb-copy-below", "0B")


@SWEEP
@pytest.mark.parametrize("way", [way for way in WAYS if way.mode != "off"], ids=str)
def test_inputs_on_the_pfs_change_nothing(site: Site, way: Way) -> None:
    write(site)
    site.declare(inputs="pfs")
    runs_well(site, way, "--bb-copy-below", "0B")
