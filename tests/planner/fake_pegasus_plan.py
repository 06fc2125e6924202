"""A small pegasus-plan for tests: one chain of jobs, laid out as 5.1.2 lays it out."""

import getpass
import itertools
import json
import os
import sys
from pathlib import Path

NODE = """\
arguments = "{arguments}"
executable = {executable}
+pegasus_wf_dax_job_id = "{job}"
+pegasus_site = "{site}"
queue
"""


def option(name: str) -> str:
    return sys.argv[sys.argv.index(name) + 1]


def load(path: str) -> dict:
    return json.loads(Path(path).read_text().replace("\\${", "${"))


def main() -> None:
    Path(os.environ["FAKE_CALLS"]).write_text(json.dumps(sys.argv[1:]))
    own = Path(option("--dir")) / getpass.getuser() / "pegasus" / "demo"
    own.mkdir(parents=True, exist_ok=True)  # whatever it is told
    if os.environ.get("FAKE_FAILS") == "1":
        sys.exit("FATAL: as the test wants it")
    submit = Path(option("--dir")) / option("--relative-submit-dir")
    conf = Path(option("--conf"))
    properties = dict(
        line.split("=", 1)
        for line in conf.read_text().splitlines()
        if "=" in line and not line.startswith("#")
    )
    sites = load(properties["pegasus.catalog.site.file"])["sites"]
    cori = next(site for site in sites if site["name"] == "cori")
    scratch = f"{cori['directories'][0]['path']}/{option('--relative-dir')}"
    write(submit, scratch, load(sys.argv[-1]), cori["profiles"]["pegasus"])
    if os.environ.get("FAKE_FAILS") == "late":
        sys.exit("FATAL: as the test wants it")
    print(
        json.dumps({"submit_dir": str(submit)}) if "--json" in sys.argv else "planned"
    )


def write(submit: Path, scratch: str, workflow: dict, profiles: dict) -> None:
    (submit / "00" / "00").mkdir(parents=True)
    (submit / "braindump.yml").write_text(
        'dag: "demo-0.dag"\nplanner_version: "5.1.2"\n'
    )
    folder = {"url": f"file://{scratch}"}
    nodes = {"create_dir_demo_0_cori": [{"type": "mkdir", "target": folder}]}
    nodes["cleanup_demo_0_cori"] = [{"type": "remove", "target": folder}]
    jobs = {
        f"{job.get('name', 'pegasus-plan')}_{job['id']}": job
        for job in workflow["jobs"]
    }
    if os.environ.get("FAKE_REUSES_ALL"):
        jobs = {name: job for name, job in jobs.items() if name.startswith("bb_")}
    outputs = [
        {
            "type": "transfer",
            "linkage": "output",
            "lfn": use["lfn"],
            "dest_urls": [{"url": f"{os.environ['FAKE_OUT']}/{use['lfn']}"}],
        }
        for job in jobs.values()
        for use in job["uses"]
        if use["type"] == "output" and use["stageOut"]
    ]
    if outputs and not os.environ.get("FAKE_NO_STAGE_OUT"):
        nodes["stage_out_remote_cori_0_0"] = outputs
    for name, entries in nodes.items():
        (submit / "00/00" / f"{name}.in").write_text(json.dumps(entries))
    here = [name for name in jobs if name.startswith("bb_")]
    for name in (*nodes, *jobs):
        text = NODE.format(
            arguments=f"kickstart -n x -w {scratch} -L demo prog",
            executable=profiles["gridstart.launcher"],
            job=jobs[name]["id"] if name in jobs else "null",
            site="local" if name in here else "cori",
        )
        text = text.replace(scratch, "/home") if name in here else text
        (submit / "00/00" / f"{name}.sub").write_text(text)
    tasks = [name for name in jobs if name not in here]
    lines = [f"JOB {name} 00/00/{name}.sub" for name in (*nodes, *jobs)]
    post = "/opt/pegasus/bin/pegasus-exitcode  -r $RETURN -l demo-0.exitcode.log"
    for name in (*nodes, *jobs):
        lines.append(f"SCRIPT POST {name} {post}    .//00/00/{name}.out")
    chain = ["create_dir_demo_0_cori", *tasks]
    chain += [name for name in nodes if name.startswith("stage_out")]
    if os.environ.get("FAKE_UNSEALABLE"):
        chain.pop(0)
    chain.append("cleanup_demo_0_cori")
    pairs = itertools.pairwise(chain)
    lines += [f"PARENT {parent} CHILD {child}" for parent, child in pairs]
    (submit / "demo-0.dag").write_text("\n".join(lines) + "\n")


main()
